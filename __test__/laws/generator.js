/**
 * Makes recipes: lists of operations for a {@link Stage}, a pure function of the seed. The weights lean
 * towards what a fold meets, and every rare thing of the contract has a share of its own.
 */
import { chanceOf, TEXT_KINDS } from './random.js';

const TOOLS = ['read', 'grep', 'bash', 'write'];
const PLUGINS = ['agent-instructions', 'system-prompt', 'rewind-guard', 'time-context'];

/** Makes the parts of one recipe. */
class Author {
  constructor(seed) {
    this.chance = chanceOf(seed);
    this.ids = 0;
    this.reuse = this.chance.chance(0.3);
    this.wild = this.chance.chance(0.35);
  }

  text(low, high) {
    return this.chance.chance(0.05) ? ['ascii', 0, 0] : this.words(low, high);
  }

  /** Text that is not empty: a replacement without content would be a fault of whoever makes it. */
  words(low, high) {
    const kind = this.wild
      ? this.chance.pick(TEXT_KINDS)
      : this.chance.weighted([
          [8, 'ascii'],
          [1, 'cjk'],
          [1, 'markup'],
        ]);
    return [kind, this.chance.int(low, high), this.chance.int(0, 99)];
  }

  callId() {
    this.ids += 1;
    return this.reuse ? `call_${this.chance.int(0, 3)}` : `call-${this.ids}`;
  }

  call(name) {
    return [this.callId(), name ?? this.chance.pick(TOOLS), this.text(0, 300)];
  }

  calls(most) {
    const wanted = this.chance.weighted([
      [5, 1],
      [3, this.chance.int(2, 4)],
      [0.4, this.chance.int(5, 16)],
    ]);
    return Array.from({ length: Math.min(wanted, most) }, () => this.call());
  }

  speech(calls) {
    const { chance } = this;
    return {
      ...(chance.chance(0.5) || calls.length === 0 ? { t: this.text(0, 600) } : {}),
      ...(chance.chance(0.3) ? { r: this.text(1, 800) } : {}),
      calls,
    };
  }

  result() {
    const { chance } = this;
    const bare = chance.chance(0.06);
    return [
      'res',
      chance.int(0, 15),
      bare ? null : this.text(20, 4000),
      {
        ...(bare || chance.chance(0.06) ? { image: chance.chance(0.8) } : {}),
        ...(chance.chance(0.1) ? { error: true } : {}),
        ...(chance.chance(0.1) ? { blocks: [this.text(0, 500)] } : {}),
      },
    ];
  }

  interruption() {
    const { chance } = this;
    return chance.chance(0.5)
      ? ['user', this.text(1, 200), chance.chance(0.1)]
      : ['plug', chance.pick(PLUGINS), this.text(1, 200)];
  }

  /** Answers for `count` open calls, people and plugins in between, some calls left without an answer. */
  answers(count) {
    const ops = [];
    for (let left = count; left > 0; left -= 1) {
      if (this.chance.chance(0.06)) ops.push(this.interruption());
      if (!this.chance.chance(0.03)) ops.push(this.result());
    }
    if (this.chance.chance(0.08)) ops.push(this.interruption());
    return ops;
  }

  /** One step: the model speaks and its calls are answered. */
  step() {
    const calls = this.chance.chance(0.12) ? [] : this.calls(16);
    return [['say', this.speech(calls)], ...this.answers(calls.length)];
  }

  /** A mark in a checkpoint call alone or with siblings, by a foreign provider, or outside any call. */
  mark() {
    const { chance } = this;
    if (chance.chance(0.12)) return [['mark', null]];
    const siblings = chance.chance(0.45) ? this.calls(5) : [];
    const at = chance.int(0, siblings.length);
    const calls = siblings.toSpliced(at, 0, this.call(chance.chance(0.85) ? 'checkpoint' : 'bookmark'));
    const early = chance.chance(0.5) ? at : chance.int(0, at);
    const ops = [['say', this.speech(calls)]];
    for (let count = 0; count < early; count += 1) ops.push(['res', 0, this.text(1, 2000)]);
    if (chance.chance(0.05)) ops.push(this.interruption());
    ops.push(['mark', at - early, chance.chance(0.7)]);
    return [...ops, ...this.answers(calls.length - early)];
  }

  edit() {
    const { chance } = this;
    const [from, to] = [chance.next(), chance.next()].map((share) => Math.round(share * 1000) / 1000);
    return chance.weighted([
      [4, () => ['prune', chance.int(0, 60), this.text(1, 120)]],
      [2, () => ['compact', from, to, this.words(1, 300)]],
      [1, () => ['compact', 0, to, this.words(1, 300)]],
      [
        1.5,
        () => [
          'replace',
          from,
          to,
          { kind: 'plugin', plugin: 'turn-memory', scope: 'whole-turn', turn: 1, version: 5 },
          this.words(1, 300),
        ],
      ],
      [
        1,
        () => [
          'replace',
          from,
          to,
          { kind: 'plugin', plugin: 'rewind-prune', receipt: 1 },
          this.words(1, 200),
        ],
      ],
    ])();
  }

  reply() {
    const { chance } = this;
    const text = ['prose', chance.int(20, 250), chance.int(0, 9)];
    return chance.weighted([
      [14, { text }],
      [2, { text: [chance.pick(['cjk', 'astral', 'lone', 'control', 'blank']), chance.int(20, 120), 3] }],
      [1, { text: ['prose', 20000, 1] }],
      [1, { empty: chance.int(1, 2), text }],
      [0.5, { empty: 9 }],
      [0.5, { fail: true }],
      [0.5, { abort: true }],
      [0.7, { stamp: 'rejects', text }],
      [0.5, { stamp: 'rejects once', text }],
    ]);
  }

  /** Asks for a fold: from a rewind call in flight, or idle, or by code while a turn is open. */
  fold() {
    const { chance } = this;
    const via = chance.weighted([
      [7, 'tool'],
      [2, 'idle'],
      [1, 'code'],
    ]);
    const siblings = via === 'tool' && chance.chance(0.3) ? this.calls(3) : [];
    const at = chance.int(0, siblings.length);
    const during = chance.chance(0.3)
      ? [
          chance.weighted([
            [3, () => this.interruption()],
            [2, () => this.result()],
            [1, () => this.edit()],
            [0.5, () => ['mark', null]],
          ])(),
        ]
      : [];
    return [
      'fold',
      {
        via,
        calls: siblings.toSpliced(at, 0, this.call('rewind')),
        at,
        early: chance.int(0, at),
        speech: this.speech([{}]),
        during,
        reply: this.reply(),
      },
    ];
  }

  /** An exploration: a mark, some work, and the fold of it. */
  round() {
    const ops = this.mark();
    for (let left = this.chance.int(0, 4); left > 0; left -= 1) {
      ops.push(
        ...this.chance.weighted([
          [6, () => this.step()],
          [1, () => [this.interruption()]],
          [1, () => [this.edit()]],
        ])(),
      );
    }
    return [...ops, this.fold()];
  }

  /** One move of the session. */
  move() {
    const { chance } = this;
    return chance.weighted([
      [7, () => this.step()],
      [1, () => this.mark()],
      [0.4, () => [this.fold()]],
      [3, () => this.round()],
      [1.2, () => [this.interruption()]],
      [1.5, () => [this.edit()]],
      [
        0.8,
        () => [
          ['end', chance.pick(['completed', 'aborted', 'max-tokens'])],
          ['user', this.text(1, 400)],
        ],
      ],
      [0.15, () => [['fork'], ['user', this.text(1, 100)]]],
      [0.15, () => [['crash'], ['user', this.text(1, 100)]]],
    ])();
  }
}

/**
 * @param seed - an unsigned 32-bit number.
 * @returns the recipe of that seed: a list of operations that {@link Stage} plays, `fold` ones for the
 * caller.
 */
export function makeRecipe(seed) {
  const author = new Author(seed);
  const { chance } = author;
  const ops = chance.chance(0.9) ? [['user', author.text(1, 400)]] : [];
  if (chance.chance(0.6)) ops.push(['header', author.words(1, 300)]);
  for (let left = chance.int(1, 8); left > 0; left -= 1) ops.push(...author.move());
  ops.push(...author.round());
  for (let left = chance.int(0, 4); left > 0; left -= 1) ops.push(...author.move());
  return ops;
}
