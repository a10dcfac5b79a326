/** The report request: a true prefix where the cache is warm, else the region alone (docs/rewind.md 2.2). */
import { harness } from '../host/compat.js';
import { readSurface } from '../host/surface.js';
import { turnStart } from '../host/turn.js';
import { instructionMessage, transcript, withoutImages } from './messages.js';

/**
 * Builds the request of a planned fold; what the model is sent is kept on the fold, for the claim check.
 *
 * @param fold - the fold: its plan, route, abilities, mark and session.
 * @returns the request as `ctx.llm.stream` takes it, without budget and signal.
 * @throws what the core refuses: `CHANGED` where the region no longer stands as planned.
 */
export function reportRequest(fold) {
  const { session, route, abilities, planned, mark } = fold;
  const events = harness.events(session);
  const surface = readSurface(session, events);
  const plan = planned.request(surface, route.routed, {
    objective: mark.objective,
    checkpointTool: fold.config.checkpointToolName,
    turnStart: turnStart(events, mark.logLength),
  });
  const seqs = plan.form === 'routed' ? surface.nodes.slice(0, plan.cut) : plan.seqs;
  const eventsOf = () => Array.from(seqs, (seq) => events[seq]);
  const messages = {
    routed: () => session.deriveMessages(),
    messages: () => eventsOf().map((event) => session.deriveEventMessage(event)),
    transcript: () => [],
  }[plan.form]();
  const last = instructionMessage(
    plan.form === 'transcript' ? `${plan.instruction}\n\n${transcript(eventsOf())}` : plan.instruction,
  );
  if (!abilities.images) messages.forEach((message, at) => { messages[at] = withoutImages(message); });
  // What a session derives is the caller's own, so it is cut in place: a copy of a long one costs as much again.
  messages.splice(plan.sent ?? messages.length, messages.length, last);
  const { system, tools } = session.requestHeader() ?? {};
  fold.sent = {
    sent: plan.form === 'transcript' ? new Uint32Array() : seqs,
    extra: [last, ...(system === undefined ? [] : [{ content: [{ type: 'text', text: system }] }])],
  };
  return {
    provider: route.provider,
    model: route.model,
    ...(abilities.effort === undefined ? {} : { reasoningEffort: abilities.effort }),
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    messages,
    sessionId: session.id,
  };
}
