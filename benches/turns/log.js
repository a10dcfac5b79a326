/**
 * A long log with the proportions of recorded sessions: steps with reasoning and one call, results from a line
 * to a file, words of the assistant now and then, steering once a turn. Plain event objects, as storage gives
 * them back.
 */
const STEPS = 19;
const RESULT_CHARS = [180, 900, 2400, 700, 9000, 350, 4200, 1500];
const WORDS = 'the port is taken by another process and the build fails in step two with an error in line forty\n';
const TEXT = WORDS.repeat(200);

/**
 * @param length - events to reach at least.
 * @returns the events; the last one ends a turn.
 */
export function longLog(length) {
  const events = [];
  const add = (type, data, more = {}) => {
    // A round trip, so that every string is one of its own, as it is after a resume.
    events.push(JSON.parse(JSON.stringify({ seq: events.length, time: events.length, type, data, ...more })));
  };
  const append = (type, data) => add(type, data, { surfaceOp: 'append' });
  for (let turn = 1; events.length < length; turn += 1) {
    add('turn/start', { turn });
    append('user/message', person(`Task ${turn}: find out why it fails.`));
    for (let step = 1; step <= STEPS; step += 1) {
      add('step/start', { turn, step });
      if (step === 10) append('user/message', person('Only in staging!'));
      const id = `call-${turn}-${step}`;
      const args = JSON.stringify({ path: `src/part-${turn}/file-${step}.rs`, limit: 200 });
      append('assistant/message', { turn, step, message: { role: 'assistant', content: [
        { type: 'reasoning', text: TEXT.slice(step, step + 220) },
        ...(step % 5 === 0 ? [{ type: 'text', text: `Part ${step} is not it.` }] : []),
        { type: 'tool-call', id, name: step % 2 === 0 ? 'bash' : 'read', arguments: args },
      ], source: { kind: 'model' } } });
      add('tool/call', { turn, step, callId: id, name: 'read', arguments: args });
      const chars = RESULT_CHARS[(turn + step) % RESULT_CHARS.length];
      append('tool/result', { turn, step, message: {
        role: 'user', source: { kind: 'tool', callId: id },
        content: [{ type: 'tool-result', toolCallId: id, isError: false, content: [{ type: 'text', text: TEXT.slice(step, step + chars) }] }],
      } });
      add('step/end', { turn, step });
    }
    append('assistant/message', { turn, step: STEPS, message: {
      role: 'assistant', content: [{ type: 'text', text: 'It is part 7.' }], source: { kind: 'model' },
    } });
    add('turn/end', { turn, reason: { kind: 'completed' } });
  }
  return events;
}

function person(text) {
  return { role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } };
}
