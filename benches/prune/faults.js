/** What a provider would say against a session's messages, by place: all faults, not only the first. */

/**
 * @param session - a session.
 * @param rows - the place in the record of each appended seq, so that a fault has the same name in every
 *   replay.
 * @returns the faults as `row: what`.
 */
export function wireFaults(session, rows) {
  const { events } = session;
  const faults = [];
  const rowOf = (event) => {
    let origin = event;
    while (origin.surfaceOp?.op === 'replace' && origin.type === 'tool/result')
      origin = events[origin.surfaceOp.start];
    return rows.get(origin.seq) ?? `receipt over ${origin.sourceEventSeqs}`;
  };
  let open = new Map();
  const close = () => {
    for (const [id, row] of open) faults.push(`${row}: call ${id} is not answered`);
    open = new Map();
  };
  for (const seq of session.surface.nodes) {
    const event = events[seq];
    if (event.type === 'tool/result') {
      const { callId } = event.data.message.source;
      if (!open.delete(callId)) faults.push(`${rowOf(event)}: result ${callId} without a call`);
      continue;
    }
    close();
    const content = event.type === 'user/message' ? event.data.content : event.data.message.content;
    if (content.length === 0) faults.push(`${rowOf(event)}: empty`);
    if (event.type !== 'assistant/message') continue;
    for (const { type, id } of content) if (type === 'tool-call') open.set(id, rowOf(event));
  }
  return faults;
}
