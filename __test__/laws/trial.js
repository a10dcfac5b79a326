/**
 * Plays one recipe against one way of folding and checks every law after every fold. The way of folding is a
 * driver, `fold(stage, ask) -> { result?, error?, atCommit, requests }`: the package's own service, or the
 * slow reference.
 */
import {
  foldBreaches,
  owedQuotes,
  refusalBreaches,
  replayBreaches,
  requestBreaches,
  snapshot,
  surfaceBreaches,
} from './checks.js';
import { oracle, turnIsOpen } from './oracle.js';
import { textOf } from './random.js';
import { Stage } from './stage.js';

/** What a refusal must end up with (4.1): something that the model can do now. */
const ADVICE = /go on|fold again|explore first|call `|add the row/i;

/** Retries of an empty answer that the drivers are configured with. */
export const RETRIES = 2;

/** The plan as the log has it, with what was appended since `length` left out: that is not a change (3.1). */
function planNow(session, mark, length, toolName) {
  const { events } = session;
  const nodes = [...session.surface.nodes];
  while (nodes.length > 0 && nodes.at(-1) >= length && events[nodes.at(-1)].surfaceOp === 'append')
    nodes.pop();
  return oracle(events, nodes, mark, { toolName, openTurn: turnIsOpen(events.slice(0, length)) });
}

const samePlan = (one, other) =>
  one.code === other.code &&
  JSON.stringify([one.folded, one.siblings]) === JSON.stringify([other.folded, other.siblings]);

/** What the answers of the model lead to when nothing else goes wrong. */
function replyOutcome({ empty = 0, fail, abort }, reply) {
  if (abort) return 'ABORT';
  return fail || empty > RETRIES || reply.trim() === '' ? 'SUMMARY_FAILED' : 'OK';
}

/**
 * Whether a refusal to fold for size may be right: the least that has to be landed is not known here, so only
 * a region that is large against the model's words, the quotes and a fair frame must fold.
 */
function mayNotShrink(plan, reply, carried) {
  const owed = carried.reduce((sum, { text, images }) => sum + text.length + 100 * images.length + 100, 0);
  return (
    plan.foldedChars <
    2 * (reply.length + 2 * owed) + 200 * (plan.segments.length + plan.siblings.length) + 3000
  );
}

/** A session on its way through any number of folds. */
export class Trial {
  /**
   * @param world - `{ meter? }`.
   * @param driver - the way of folding.
   * @param stage - what is folded: a {@link Stage}, or anything with `session`, `marks` and no `calls`.
   */
  constructor(world, driver, stage) {
    this.driver = driver;
    this.meter = world.meter;
    this.stage = stage;
    this.known = new Map();
    this.breaches = [];
    this.tally = {};
  }

  count(outcome) {
    this.tally[outcome] = (this.tally[outcome] ?? 0) + 1;
  }

  /** What kinds of folds were met, so that a run can show that the rare ones had their share. */
  countShape({ segments, siblings, carrying, quoted }) {
    if (segments.length > 1) this.count('in segments');
    if (siblings.length > 0) this.count('with siblings');
    if (carrying !== undefined) this.count('in a sibling');
    if (quoted.length > 0) this.count('with quotes');
  }

  /** Brings the session to the moment of the ask, and tells what remains to be answered. */
  enter({ via, calls, at, early, speech }) {
    const { stage } = this;
    if (via === 'idle') stage.on_end();
    if (via === 'code') {
      stage.openTurn();
      stage.closeStep();
    }
    if (via !== 'tool') return;
    stage.on_say({ ...speech, calls });
    const asked = calls.findIndex(([, name]) => name === 'rewind');
    for (let left = Math.min(early, at, asked); left > 0; left -= 1) stage.on_res(0, ['line', 50, left]);
    const call = stage.calls.find(({ name }) => name === 'rewind');
    if (call) stage.start(call);
  }

  /**
   * One fold with all the laws around it.
   *
   * @param spec - what a recipe's `fold` says; `via: 'here'` asks as the session stands.
   */
  async fold(spec) {
    const { stage } = this;
    this.enter(spec);
    const mark = await this.driver.latestMark(stage);
    const taken = stage.marks.length;
    const before = snapshot(stage.session);
    const { overridden = true, images, toolName } = this.driver;
    const plan = mark ? oracle(before.events, before.nodes, mark, { toolName }) : { code: 'NO_CHECKPOINT' };
    const reply = spec.reply.text === undefined ? '' : textOf(spec.reply.text);
    const carried = plan.code ? [] : owedQuotes(before.events, plan, this.known);
    let changed = false;
    const during = () => {
      for (const op of spec.during) stage.play(op);
      changed =
        stage.marks.length !== taken ||
        !samePlan(plan, planNow(stage.session, mark, before.events.length, toolName));
    };
    const { result, error, atCommit, requests, stopped } = await this.driver.fold(stage, {
      mark,
      spec,
      reply,
      carried,
      during,
    });
    const header = stage.session.requestHeader();
    for (const options of plan.code ? [] : requests) {
      this.breaches.push(...requestBreaches(options, { before, plan, header, overridden, images }));
    }
    const after = snapshot(stage.session);
    const outcome = result ? 'OK' : error === stopped ? 'ABORT' : (error.code ?? 'UNCLASSIFIED');
    this.count(outcome);
    this.refusal = error;
    if (result && !plan.code) this.countShape(plan);
    this.expect(this.wanted(plan, spec, changed, reply, carried, requests), outcome, error);
    if (result && plan.code) return;
    if (result) {
      this.breaches.push(
        ...foldBreaches({
          atCommit,
          after,
          plan,
          mark,
          result,
          meter: this.meter,
          carried,
          ...(reply.isWellFormed() ? { reply } : {}),
        }),
      );
      this.known.set(atCommit.events.length + (this.meter ? 1 : 0), carried);
      await this.again(spec, mark, carried);
    } else {
      this.breaches.push(...refusalBreaches(atCommit, after));
      this.refused(error, outcome, plan, requests);
    }
    this.breaches.push(...surfaceBreaches(after));
    const own = stage.calls.find(({ name }) => name === 'rewind');
    if (own) stage.answer(own.id, ['line', 60, 1], { error: !result });
  }

  /** The outcomes that the contract allows here. */
  wanted(plan, { reply: answers }, changed, reply, carried, requests) {
    if (plan.code) return [plan.code];
    if (requests.length === 0) return mayNotShrink(plan, reply, carried) ? ['SHRINK'] : ['a request'];
    const answered = replyOutcome(answers, reply);
    if (answered !== 'OK') return [answered];
    if (changed) return ['CHANGED'];
    return mayNotShrink(plan, reply, carried) ? ['OK', 'SHRINK'] : ['OK'];
  }

  expect(wanted, outcome, error) {
    if (wanted.includes(outcome)) return;
    this.breaches.push(
      `outcome ${outcome}, the oracle says ${wanted.join(' or ')}${error ? ` (${error.message})` : ''}`,
    );
  }

  /**
   * A refusal says where (1.5) and how much (4.1), and nothing was asked of the model where nothing could
   * fold.
   */
  refused(error, outcome, plan, requests) {
    if (outcome !== 'ABORT' && !ADVICE.test(error.message)) {
      this.breaches.push(`${outcome} does not say what to do next: ${error.message}`);
    }
    if (plan.code && requests.length > 0) this.breaches.push(`${outcome}, but the model was asked`);
    const says = (number) =>
      String(error.message)
        .replaceAll(/(?<=\d)[,_ ](?=\d{3})/g, '')
        .includes(String(number));
    if (plan.seq !== undefined && outcome === plan.code && !says(plan.seq))
      this.breaches.push(`${outcome} does not name seq ${plan.seq}: ${error.message}`);
    if (outcome === 'SHRINK' && !plan.code && !says(plan.foldedChars))
      this.breaches.push(`SHRINK does not say ${plan.foldedChars}: ${error.message}`);
  }

  /** A second fold of one mark changes nothing. */
  async again(spec, mark, carried) {
    const before = snapshot(this.stage.session);
    const ask = { mark, spec: { ...spec, during: [] }, reply: 'again', carried, during: () => {} };
    const { result, error, requests } = await this.driver.fold(this.stage, ask);
    if (result || error.code !== 'EMPTY_REGION')
      this.breaches.push(`the second fold of mark ${mark.id}: ${error?.code ?? 'folded'}`);
    if (requests.length > 0) this.breaches.push(`the second fold of mark ${mark.id} asked the model`);
    this.breaches.push(...refusalBreaches(before, snapshot(this.stage.session)));
  }
}

/**
 * Plays a recipe.
 *
 * @param world - `{ ctx, meter? }`.
 * @param driver - the way of folding.
 * @param ops - the recipe.
 * @param id - the session's id, new in this context.
 * @returns a promise of `{ breaches, tally }`: the first breaches met, and the folds by outcome.
 */
export async function playRecipe(world, driver, ops, id) {
  const stage = new Stage(world.ctx, id);
  stage.onMark = driver.onMark;
  const trial = new Trial(world, driver, stage);
  try {
    for (const [index, op] of ops.entries()) {
      if (op[0] === 'fold') await trial.fold(op[1]);
      else trial.stage.play(op);
      if (trial.breaches.length > 0) {
        return {
          breaches: trial.breaches.map((breach) => `op ${index} (${op[0]}): ${breach}`),
          tally: trial.tally,
        };
      }
    }
    return { breaches: replayBreaches(trial.stage.session), tally: trial.tally };
  } catch (error) {
    return { breaches: [`threw: ${error.stack.split('\n').slice(0, 3).join(' ')}`], tally: trial.tally };
  } finally {
    trial.stage.leave();
  }
}
