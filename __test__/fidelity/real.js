/**
 * Every read-only exploration of at least five calls in the recorded sessions: a run of steps whose calls only
 * look, each answered, between two persons' messages or two steps that change something.
 */
import { chanceOf } from '../laws/random.js';
import { sessions } from '../support/data.js';
import { Prose } from './prose.js';
import { probesOf } from './probes.js';

/** Tools that only look, by lower-case name. */
const LOOKING = /^(read|open|glob|grep|find_file|search\w*|get_\w+|web_?search|web_?fetch|taskoutput|think|calculate)$/;

/** Commands that only look, by program; `git`, `sed` and `node` only in the forms named beside them. */
const PROGRAMS = new Set(['ls', 'cat', 'head', 'tail', 'grep', 'rg', 'find', 'wc', 'tree', 'stat', 'file', 'which', 'pwd',
  'echo', 'cd', 'sort', 'uniq', 'cut', 'awk', 'jq', 'diff', 'du', 'df', 'env', 'date', 'true', 'basename', 'dirname', 'xxd', 'tr']);
const FORMS = {
  git: /^git (-C \S+ )?(log|show|diff|status|blame|grep|branch( -[av]+)?$|ls-files|rev-parse|remote -v|describe|shortlog)\b/,
  sed: /^sed (-n|-E -n|-ne)\b/,
  bd: /^bd (ready|list|show|stats)\b/,
  gh: /^gh (issue|pr|run|repo|release) (view|list|status|diff|checks)\b|^gh api (?!.*(-X|--method|-f|-F)\b)/,
  npm: /^npm (ls|view|outdated)\b/,
};

function onlyLooks(command) {
  const plain = command.replace(/'[^']*'|"(\\.|[^"\\])*"/g, '""').replace(/2>(&1|\/dev\/null)|>\/dev\/null/g, '');
  if (/[>`]|<<|\$\(|\bxargs\b|-delete\b|-exec\b/.test(plain)) return false;
  return plain.split(/\|\||&&|[|;&\n]/).map((part) => part.trim()).filter(Boolean).every((part) => {
    const program = part.split(/\s+/)[0];
    return PROGRAMS.has(program) || FORMS[program]?.test(part) === true;
  });
}

function looks({ name, arguments: json }) {
  const tool = name.toLowerCase();
  if (tool !== 'bash') return LOOKING.test(tool);
  try {
    return onlyLooks(String(JSON.parse(json).command ?? ''));
  } catch {
    return false;
  }
}

const wordsOf = (content) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n').trim();

/** Steps of a session: an assistant message with its results, or a person's message. */
function stepsOf(rows) {
  const steps = [];
  for (const { type, data } of rows) {
    if (type === 'user/message') steps.push({ person: wordsOf(data.content) });
    if (type === 'assistant/message') {
      const { content } = data.message;
      steps.push({
        text: wordsOf(content),
        reasoning: content.filter(({ type: kind }) => kind === 'reasoning').map(({ text }) => text).join('\n'),
        calls: content.filter(({ type: kind }) => kind === 'tool-call'),
        results: [],
      });
    }
    if (type === 'tool/result') {
      const [block] = data.message.content;
      const open = steps.findLast(({ calls, results }) => calls?.some(({ id }, at) => id === block.toolCallId && !results[at]));
      const at = open?.calls.findIndex(({ id }, place) => id === block.toolCallId && !open.results[place]);
      if (open) open.results[at] = { text: wordsOf(block.content), isError: block.isError === true };
    }
  }
  return steps;
}

/** What a report could know of an exploration, for its inventions. */
function proseOf(text, messages) {
  const prose = new Prose();
  prose.add(text);
  for (const { kind, text: fact } of probesOf(messages)) if (kind in prose.known) prose.known[kind].push(fact);
  const numbers = JSON.stringify(messages).match(/(?<![\w.])\d{4,6}(?![\w.])/g) ?? [];
  prose.known.number.push(...numbers.slice(0, 20));
  // What it claims is counted roughly: code spans, and numbers outside of them.
  prose.facts = (text.match(/`[^`\n]+`/g) ?? []).length + (text.replace(/`[^`\n]*`/g, '').match(/(?<![\w.])\d{3,}/g) ?? []).length;
  return prose;
}

/**
 * @returns the explorations of all recorded sessions, `{ from, calls, ... }` as the synthetic ones are; the
 * ideal report is what the model itself said next, where it said enough.
 */
export function recordedExplorations() {
  const found = [];
  for (const { name, rows } of sessions('trajectories')) {
    const steps = stepsOf(rows());
    let run = [];
    let prompt = 'Look around.';
    const close = (next) => {
      const calls = run.flatMap((step) => step.calls).length;
      if (calls >= 5) {
        const said = next?.text ?? '';
        const plain = run.map(({ calls: asked, ...step }) => ({ ...step,
          calls: asked.map(({ id, name: tool, arguments: args }) => ({ id, name: tool, args })) }));
        const messages = run.flatMap((step) => [{ role: 'assistant', content: step.calls },
          ...step.results.map(({ text, isError }, at) => ({ role: 'user', content: [{ type: 'tool-result', isError,
            toolCallId: step.calls[at].id, content: [{ type: 'text', text }] }] }))]);
        const asked = prompt === '' ? 'Look around.' : prompt;
        found.push({ from: name.replace('.dsh.jsonl', ''), calls, language: 'en', prompt: asked, root: undefined,
          steps: plain, prose: proseOf(said.length >= 80 ? said : 'The places were read and nothing was changed.', messages),
          said: said.length >= 80, chance: chanceOf(found.length + 1) });
      }
      run = [];
    };
    for (const step of steps) {
      if (step.person !== undefined) {
        close();
        prompt = step.person;
      } else if (step.calls.length > 0 && step.calls.every(looks) && step.calls.every((_, at) => step.results[at])) {
        run.push(step);
      } else {
        close(step);
      }
    }
    close();
  }
  return found;
}
