/** The turns that both engines summarize: recorded ones where the data is there, and synthetic ones. */
import { resultOf } from '../../plugin/host/events.js';
import { sessions } from '../../__test__/support/data.js';
import { act, call, say } from '../../__test__/support/script.js';

const RECORDED = 5;
const MAX_CALLS = 60;

/**
 * A turn as the loop can play it: the model's answers, what the tools return, what a person steers in.
 *
 * @typedef {{ name: string, history: object[], prompt: string, steps: object[], outputs: object[],
 *   tools: string[], calls: number }} PlayedTurn
 */

/** @returns {PlayedTurn[]} up to five recorded turns, one a session, the richest whose calls are all answered. */
export function recordedTurns() {
  const found = [];
  for (const { name, rows } of sessions('trajectories')) {
    const events = rows().slice(1);
    const turns = splitTurns(events).filter((turn) => isWhole(turn));
    const best = turns.filter(({ calls }) => calls.length <= MAX_CALLS)
      .toSorted((a, b) => b.calls.length - a.calls.length)[0];
    if (best === undefined || best.calls.length < 2) continue;
    found.push(played(name.replace('.dsh.jsonl', ''), best, turns.filter(({ number }) => number < best.number)));
  }
  return found.toSorted((a, b) => b.calls - a.calls).slice(0, RECORDED);
}

function splitTurns(events) {
  const turns = [];
  for (const event of events) {
    if (event.type === 'turn/start') turns.push({ number: event.data.turn, events: [] });
    turns.at(-1)?.events.push(event);
  }
  return turns.map((turn) => ({
    ...turn,
    calls: turn.events.flatMap((event) => (event.type === 'assistant/message'
      ? event.data.message.content.filter(({ type }) => type === 'tool-call') : [])),
  }));
}

function isWhole({ events, calls }) {
  const answered = events.filter(({ type }) => type === 'tool/result').length;
  const speaks = events.some(({ type, data }) => type === 'assistant/message'
    && data.message.content.every((block) => block.type !== 'tool-call'));
  return answered === calls.length && speaks && events[1]?.type === 'user/message';
}

/** Earlier turns become the history as plain exchanges, so that the prefix has its real size. */
function played(name, turn, earlier) {
  const answers = turn.events.filter(({ type }) => type === 'assistant/message').map(({ data }) => data.message.content);
  const outputs = turn.events.filter(({ type }) => type === 'tool/result').map(resultOf);
  return {
    name: `${name} turn ${turn.number}`,
    history: earlier.map(exchange),
    prompt: textIn(turn.events[1].data.content),
    steps: answers.map(stepOf),
    outputs: outputs.map(({ blocks, isError }) => ({ text: textIn(blocks), isError })),
    tools: [...new Set(turn.calls.map((block) => block.name))],
    calls: turn.calls.length,
  };
}

function exchange({ events }) {
  const said = events.filter(({ type }) => type === 'assistant/message' || type === 'tool/result')
    .map((event) => textIn(event.type === 'tool/result' ? resultOf(event).blocks : event.data.message.content));
  return { prompt: textIn(events[1].data.content), answer: said.filter(Boolean).join('\n') || '(no text)' };
}

function stepOf(content) {
  const text = textIn(content);
  const reasoning = content.filter(({ type }) => type === 'reasoning').map((block) => block.text).join('\n');
  const calls = content.filter(({ type }) => type === 'tool-call').map((block) => call(block.id, block.name, block.arguments));
  const more = reasoning === '' ? {} : { reasoning };
  return calls.length > 0 ? act(calls, { ...more, ...(text === '' ? {} : { text }) }) : say(text || '(no text)', more);
}

function textIn(blocks) {
  return blocks.filter(({ type }) => type === 'text').map((block) => block.text).join('\n');
}

/** @returns {PlayedTurn[]} synthetic turns of growing length, the last ones with history before them. */
export function syntheticTurns(count) {
  return Array.from({ length: count }, (_, index) => {
    const calls = 2 + index * 4;
    return {
      name: `synthetic ${index + 1}`,
      history: Array.from({ length: index * 2 }, (_none, at) => ({
        prompt: `Earlier task ${at}.`, answer: `Answer ${at}. ${'It took a while. '.repeat(40)}`,
      })),
      prompt: `Find out why job ${index} fails.`,
      steps: [
        ...Array.from({ length: calls }, (_none, at) => act([call(`c${at}`, at % 2 === 0 ? 'read' : 'bash', { what: `part ${at}` })], {
          ...(at % 3 === 0 ? { reasoning: 'The cause may be here. '.repeat(8) } : {}),
          ...(at % 5 === 4 ? { text: `Part ${at} is not it.` } : {}),
        })),
        say(`It is part ${calls - 1}: the port is taken.`),
      ],
      outputs: Array.from({ length: calls }, (_none, at) => ({ text: `line of output ${at}\n`.repeat(60), isError: at % 7 === 6 })),
      tools: ['read', 'bash'],
      calls,
    };
  });
}
