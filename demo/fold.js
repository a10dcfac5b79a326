/**
 * One fold in the real CLI, and what a person wants to see of it. Each claim that is printed is checked, and
 * the exit code is 1 if one of them does not hold.
 */
import { Session } from '@deepseek-ai/dsh-session';
import { createCli } from '../__test__/support/cli.js';
import { textOf } from '../__test__/support/wire.js';
import { ANSWER, FILES, NEEDLE, REPORT, STEPS, TASK } from './story.js';

const CHARS_PER_TOKEN = 4;
const WIDTH = 88;
const failures = [];

function heading(text) {
  console.log(`\n${text}\n${'-'.repeat(text.length)}`);
}

/** Prints a claim with its verdict; a claim that does not hold is remembered. */
function claim(holds, text) {
  console.log(`${holds ? 'ok  ' : 'FAIL'}  ${text}`);
  if (!holds) failures.push(text);
}

function number(value) {
  return value.toLocaleString('en-US');
}

function oneLine(text) {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > WIDTH ? `${flat.slice(0, WIDTH - 1)}…` : flat;
}

/** One surface event in a line: seq, who speaks, how much, how it begins. */
function describe({ seq, type, data }) {
  const [block] = type === 'tool/result' ? data.message.content : [];
  const content = block?.content ?? data.content ?? data.message.content;
  const calls = content.filter((one) => one.type === 'tool-call')
    .map(({ name, arguments: args }) => `${name}(${args})`);
  const words = [textOf(content), ...calls].filter(Boolean).join(' ');
  const source = data.source?.plugin ?? '';
  const spoken = { 'assistant/message': 'model', 'tool/result': 'tool' }[type];
  const who = spoken ?? (source || 'person').split('/').at(-1);
  const size = textOf(content).length + textOf(content, 'reasoning').length + calls.join('').length;
  return [String(seq).padStart(4), who.padEnd(17), number(size).padStart(7), oneLine(words)].join('  ');
}

function printSurface(title, events) {
  heading(title);
  console.log(' seq  who                  chars  what');
  for (const event of events) console.log(describe(event));
}

/** A request's size as the providers count it: everything that is sent, four characters to a token. */
function tokensOf({ promptChars }) {
  return Math.ceil(promptChars / CHARS_PER_TOKEN);
}

function isReport({ type, data }) {
  return type === 'user/message' && data.source.kind === 'plugin' && data.source.plugin === 'rewind';
}

function show(log, provider, outcome) {
  const { events, surface } = log;
  const landed = events.filter(isReport);
  const answered = outcome.code === 0 && outcome.stdout.trim() === ANSWER;
  claim(answered, `the CLI ended with ${outcome.code} and the answer`);
  if (outcome.stderr) console.log(outcome.stderr);
  claim(landed.length === 1, `one report is in the log (${landed.length} found)`);
  if (landed.length === 0) return;

  const [report] = landed;
  const { nodes } = Session.create(log.id, events.slice(0, report.seq), log.header).surface;
  printSurface('What the model saw before the fold', nodes.map((seq) => events[seq]));
  printSurface('What it sees at the end', surface);

  heading('The report that stands in place of the exploration');
  console.log(textOf(report.data.content));

  const mains = provider.of('main');
  const [summary] = provider.of('report');
  const firstAfter = mains.findIndex(({ index }) => index > summary.index);
  const [last, next] = [mains[firstAfter - 1], mains[firstAfter]];
  heading('Requests');
  const row = (name, request) => {
    const messages = String(request.messages.length).padStart(3);
    console.log(`${name}  ${messages} messages, ${number(tokensOf(request)).padStart(7)} estimated tokens`);
  };
  row('the last before the fold ', last);
  row('the fold\'s own            ', summary);
  row('the first after the fold ', next);
  const standing = JSON.stringify(last.tools).length + last.messages[0].content.length;
  const overhead = Math.ceil(standing / CHARS_PER_TOKEN);
  console.log(`(system prompt and tools are ${number(overhead)} tokens of each)`);

  heading('Checked');
  const shadowed = report.sourceEventSeqs.map((seq) => events[seq]);
  const [from, to] = [last, next].map((request) => number(tokensOf(request) - overhead));
  claim(next.messages.length < last.messages.length && tokensOf(next) < tokensOf(last),
    `the context went from ${from} to ${to} tokens beside system prompt and tools`);
  claim(JSON.stringify(next.messages).includes(JSON.stringify(REPORT.split('\n')[1]).slice(1, -1)),
    'the report is in the first request after the fold');
  claim(!JSON.stringify(next.messages).includes(NEEDLE), 'the text of the explored log file is not');
  const kept = shadowed.reduce((sum, event) => sum + JSON.stringify(event.data).length, 0);
  claim(shadowed.length > 0 && JSON.stringify(shadowed).includes(NEEDLE),
    `the log still holds the exploration: ${shadowed.length} events, ${number(kept)} characters`);
  const same = (message, at) => JSON.stringify(message) === JSON.stringify(summary.messages[at]);
  const prefix = last.messages.every(same) && JSON.stringify(last.tools) === JSON.stringify(summary.tools);
  const share = Math.round((100 * summary.cachedChars) / summary.promptChars);
  claim(prefix, `the fold's own request repeats the last one to the letter, ${share}% of it is cached`);
  claim(log.fault === undefined, 'the surface is wire-valid');
  const valid = provider.requests.filter(({ fault, status }) => !fault && status === 200).length;
  const sent = provider.requests.length;
  claim(valid === sent, `${valid} of ${sent} requests were wire-valid`);
}

const cli = await createCli({ files: FILES, steps: STEPS });
try {
  heading('The task');
  console.log(TASK);
  const outcome = await cli.run(TASK);
  const [log] = cli.logs();
  if (log) show(log, cli.provider, outcome);
  else claim(false, `a session log was written (the CLI ended with ${outcome.code}: ${outcome.stderr})`);
} finally {
  await cli.close();
}
console.log(failures.length === 0 ? '\nEverything held.' : `\n${failures.length} claim(s) did not hold.`);
process.exitCode = failures.length === 0 ? 0 : 1;
