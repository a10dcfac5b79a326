/**
 * The words in which a test scripts a model: one step is one answer, lanes keep unrelated requests (the
 * session title, the report of a fold) from taking each other's steps. Both the strict provider and the
 * in-process adapter speak it, so that a scenario can move from one to the other unchanged.
 *
 * A step is a plain object, or a function of the request that returns one (async if it must wait):
 *
 *   { reasoning?, text?, calls?: [{ id, name, arguments }], finish?, usage? }   an answer
 *   { ..., hang: true }             sends what it has, then nothing more
 *   { ..., die: true }              sends what it has, then breaks the connection
 *   { garbage: 'text' }             sends bytes that are not the protocol
 *   { status: 500, error?, code? }  refuses the request
 *
 * `finish` is `stop`, `tool-calls` or `max-tokens` (any other word is passed on as it is); it defaults to
 * `tool-calls` for a step with calls and to `stop` otherwise. `usage` is `{ input, output, cached?,
 * reasoning? }`.
 */

/**
 * @param text - the visible text of the answer.
 * @param more - further fields of the step.
 * @returns a step that answers with text.
 */
export function say(text, more = {}) {
  return { text, ...more };
}

/**
 * @param id - the call's id.
 * @param name - the tool's name.
 * @param args - the arguments: an object, or a string sent as it is.
 * @returns one tool call for `act`.
 */
export function call(id, name, args = {}) {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

/**
 * @param calls - the tool calls of one assistant message, in order.
 * @param more - further fields of the step.
 * @returns a step that calls tools.
 */
export function act(calls, more = {}) {
  return { calls: [calls].flat(), ...more };
}

/**
 * @param step - the step to give to every request of a lane.
 * @returns a step list that never runs dry.
 */
export function always(step) {
  return { always: step };
}

/**
 * Lanes by the output budget, the one mark that tells the harness's requests apart on every transport: a
 * session title asks for 64 tokens, a fold's report for 1,024 and at most four times that, the task for its
 * own budget.
 */
export const LANES = {
  title: ({ maxTokens }) => maxTokens === 64,
  report: ({ maxTokens }) => maxTokens >= 256 && maxTokens <= 4096,
  main: () => true,
};

/** Hands out scripted steps, lane by lane. */
export class Script {
  #lanes;

  /**
   * @param steps - step lists by lane name; `title` answers by itself when it is not given.
   * @param match - matchers by lane name, tried in order before the standing ones.
   */
  constructor(steps = {}, match = {}) {
    for (const lane of Object.keys(steps)) {
      if (!(lane in match) && !(lane in LANES)) throw new Error(`script: lane "${lane}" has no matcher`);
    }
    // The given matchers come first, and one of a standing lane's name takes its place.
    const matchers = { ...match, ...LANES, ...match };
    this.#lanes = Object.entries(matchers).map(([name, matches]) => ({
      name,
      matches,
      steps: steps[name] ?? (name === 'title' ? always(say('A title')) : []),
      taken: 0,
    }));
  }

  /**
   * Adds steps to a lane while a scenario runs.
   *
   * @param lane - the lane's name.
   * @param more - the steps to put at its end.
   */
  push(lane, ...more) {
    const found = this.#lanes.find(({ name }) => name === lane);
    if (!found) throw new Error(`script: no lane "${lane}"`);
    found.steps.push(...more);
  }

  /**
   * @param request - the request's facts, `{ maxTokens, messages, ... }`.
   * @returns the name of the lane that the request belongs to.
   */
  laneOf(request) {
    return this.#lanes.find(({ matches }) => matches(request)).name;
  }

  /**
   * @param request - the request's facts.
   * @returns a promise of the step that answers it.
   * @throws when the lane has no step left, naming the lane and the number of steps it had.
   */
  async next(request) {
    const lane = this.#lanes.find(({ matches }) => matches(request));
    const step = lane.steps.always ?? lane.steps[lane.taken];
    lane.taken += 1;
    if (step === undefined) {
      const given = `${lane.steps.length} given`;
      throw new Error(`script: request ${lane.taken} of lane "${lane.name}" has no step (${given})`);
    }
    const { finish, ...rest } = typeof step === 'function' ? await step(request) : step;
    return { ...rest, finish: finish ?? (rest.calls?.length ? 'tool-calls' : 'stop') };
  }

  /** @returns how many steps of each lane were never asked for; an empty object after a complete run. */
  get left() {
    const entries = this.#lanes
      .filter(({ steps, taken }) => Array.isArray(steps) && taken < steps.length)
      .map(({ name, steps, taken }) => [name, steps.length - taken]);
    return Object.fromEntries(entries);
  }
}
