/** Real sessions for measurements: turns of 20 steps, one call and one 800-character result a step. */
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '@deepseek-ai/dsh-llm';
import { Session } from '@deepseek-ai/dsh-session';

const RESULT = 'x'.repeat(800);

/**
 * Grows a session to a length.
 *
 * @param length - events to reach at least.
 * @returns the session, its last turn closed.
 */
export function growSession(length) {
  const session = Session.create('bench');
  for (let turn = 1; session.seq < length; turn += 1) appendTurn(session, turn);
  return session;
}

/** Appends one turn of 20 steps. */
export function appendTurn(session, turn) {
  session.append('turn/start', { turn });
  for (let step = 1; step <= 20; step += 1) {
    session.append('step/start', { turn, step });
    if (step === 1) {
      session.append('user/message', createUserMessage({
        content: [{ type: 'text', text: `Look into part ${turn}.` }],
        source: { kind: 'plugin', plugin: 'bench' },
      }), { surfaceOp: 'append' });
    }
    appendStep(session, turn, step);
    session.append('step/end', { turn, step });
  }
  session.append('turn/end', { turn, reason: { kind: 'completed' } });
}

function appendStep(session, turn, step) {
  const callId = `call-${turn}-${step}`;
  const args = JSON.stringify({ path: `src/part-${turn}/file-${step}.rs` });
  const message = createAssistantMessage({
    content: [
      { type: 'text', text: 'Reading the next file.' },
      { type: 'tool-call', id: callId, name: 'read', arguments: args },
    ],
    source: { provider: 'bench', model: 'bench' },
  });
  session.append('assistant/message', { turn, step, message }, { surfaceOp: 'append', sourceEventSeqs: [] });
  const { seq } = session.append('tool/call', { turn, step, callId, name: 'read', arguments: args });
  const result = createToolResultMessage({ callId, content: [{ type: 'text', text: RESULT }], isError: false });
  session.append('tool/result', { turn, step, message: result }, { surfaceOp: 'append', sourceEventSeqs: [seq] });
}

/** A second, cold session object over the same log. */
export function reopen(session) {
  return Session.create(session.id, session.events);
}
