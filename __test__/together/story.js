/** Generated sessions in which everything edits at once: what is done when comes from a seed alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chanceOf, textOf as generated } from '../laws/random.js';
import { act, always, call, say } from '../support/script.js';
import { Watch } from './laws.js';
import { together } from './stage.js';

const PATHS = ['a', 'b', 'c', 'd', 'e'];
const PRUNERS = [
  {}, { keepMode: 'budget', judgeOn: 'always', minCandidatesForBudget: 1 }, { neverPruneTools: ['read'] },
];
const TEXTS = ['ascii', 'line', 'cjk', 'astral', 'lone', 'markup'];

/** Two looks apart without an event and without a request are rest enough. */
async function quiet(loop, agent) {
  for (let seen = ''; seen !== `${loop.requests.length} ${agent.session.seq}`;) {
    seen = `${loop.requests.length} ${agent.session.seq}`;
    await sleep(8);
  }
}

/** One seed's session. */
class Story {
  #steps = [];
  #calls = 0;
  #held = [];

  constructor(t, seed) {
    this.t = t;
    this.chance = chanceOf(seed);
  }

  words(most) {
    const { chance } = this;
    return generated([chance.pick(TEXTS), chance.int(1, most), chance.int(1, 900)]);
  }

  /** A result: mostly plain, sometimes with a word of trouble, of any size. */
  output() {
    const { chance } = this;
    const trouble = chance.chance(0.15) ? '\nit failed here\n' : '';
    return `${generated(['line', chance.int(20, 4000), chance.int(1, 900)])}${trouble}`;
  }

  /** What may happen while a tool runs: somebody steers, somebody stops the turn, a summary comes in. */
  async body() {
    const { chance, agent } = this;
    if (chance.chance(0.15)) agent.steer(`steer ${this.words(60)}`);
    if (chance.chance(0.02)) agent.agent.cancel({ kind: 'user' });
    if (chance.chance(0.3)) await this.release();
    return this.output();
  }

  /** Summaries are held until something releases them, which may be while a fold waits for its report. */
  async gate({ lane }) {
    if (lane === 'summary') await new Promise((go) => void this.#held.push(go));
    if (lane !== 'report') return;
    this.watch.folding = true;
    if (this.chance.chance(0.5)) await this.release();
    await sleep(2);
    this.watch.folding = false;
  }

  async release() {
    for (const go of this.#held.splice(0)) go();
    await sleep(1);
  }

  call(name, args) {
    this.#calls += 1;
    return call(`${name}-${this.#calls}`, name, args);
  }

  look() {
    const { chance } = this;
    const what = chance.pick(PATHS);
    return chance.chance(0.8) ? this.call('read', { path: what }) : this.call('bash', { command: what });
  }

  step() {
    const { chance, agent } = this;
    const calls = chance.weighted([
      [6, () => [this.look()]],
      [3, () => Array.from({ length: chance.int(2, 4) }, () => this.look())],
      [2, () => [this.call('checkpoint', { objective: 'look' })]],
      [1, () => [this.call('checkpoint', { objective: 'look' }), this.look()]],
      [2, () => [this.call('rewind', {})]],
      [1, () => [this.call('recall', { seq: chance.int(0, agent.session.seq) })]],
      [1, () => [this.call('expand_turn', { turn: chance.int(1, 8), mode: 'raw' })]],
      [1, () => [this.call('compact_turn', chance.chance(0.5) ? {} : { turn: chance.int(1, 8) })]],
    ])();
    return act(calls, {
      ...(chance.chance(0.3) ? { text: `I look: ${this.words(40)}` } : {}),
      ...(chance.chance(0.2) ? { reasoning: 'hm' } : {}),
    });
  }

  /** What happens between two turns. */
  async between() {
    const { chance, agent, loop } = this;
    await chance.weighted([
      [3, () => undefined],
      [3, async () => {
        await this.release();
        await quiet(loop, agent);
      }],
      [1, () => agent.command('/prune now')],
      [1, () => agent.command('/rewind fold')],
      [1, () => loop.ctx.compaction.compactNow(agent.agent, new AbortController().signal).catch(() => {})],
    ])();
  }

  async play() {
    const { t, chance } = this;
    const tight = chance.chance(0.3);
    this.loop = await together(t, {
      window: tight ? 6_000 : 200_000,
      gate: (request) => this.gate(request),
      rows: {
        memory: { summaryEngine: chance.chance(0.7) ? 'replay' : 'fork' },
        prune: {
          ...chance.pick(PRUNERS),
          receiptTransport: chance.chance(0.7) ? 'direct' : 'region',
        },
        compaction: tight ? { thresholdRatio: 0.6, retainRatio: 0.3 } : { auto: false },
      },
      steps: { main: always(() => this.#steps.shift()?.() ?? say(`That is all: ${this.words(30)}`)) },
      reading: () => this.body(),
    });
    const { loop } = this;
    this.agent = await loop.agent();
    const watch = new Watch(loop.ctx, this.agent.session);
    this.watch = watch;
    for (let turns = chance.int(3, 7); turns > 0; turns -= 1) {
      this.#steps = Array.from({ length: chance.int(1, 8) }, () => () => this.step());
      await this.agent.prompt(`prompt ${this.words(80)}`);
      this.#steps = [];
      watch.rest(loop.ctx);
      await this.between();
      watch.rest(loop.ctx);
    }
    await this.release();
    await quiet(loop, this.agent);
    watch.rest(loop.ctx);
    const status = (await this.agent.command('/prune status')).result.text;
    return { loop, watch, status, agent: this.agent };
  }
}

/**
 * Plays the session of a seed.
 *
 * @param t - the test, at whose end it is taken down.
 * @param seed - the seed.
 * @returns a promise of `{ breaches, tally, agent }`: what was broken, and how many edits of each kind there
 *   were.
 */
export async function playStory(t, seed) {
  const { loop, watch, status, agent } = await new Story(t, seed).play();
  const breaches = [
    ...watch.breaches,
    ...loop.rejected.map(({ lane, message }) => `a request of ${lane} was refused: ${message}`),
    ...loop.logs().filter(({ type }) => type === 'error').map(({ text }) => `logged: ${text}`),
    ...(/, 0 errors\.$/m.test(status) ? [] : [status]),
    ...(agent.fault() === undefined ? [] : [`at rest: ${agent.fault().message}`]),
  ];
  return { breaches: [...new Set(breaches)], tally: watch.tally, agent };
}
