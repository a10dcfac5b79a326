/**
 * The rules of ledger and claim check as one would write them in JavaScript: regular expressions over the same
 * events. It serves the comparison of speed alone, and its answers are compared too, so that both do the work.
 */

const QUOTES = /["'`‘’“”«»「」『』]/g;

/** Quotes, white space and separators made equal. */
const normal = (text) => text.replace(/\\n|\\t|\\r/g, ' ').replace(/\\["']/g, "'").replace(/\\\\?/g, '/')
  .replace(QUOTES, "'").replace(/\s+/g, ' ');

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

const ERROR_WORDS = /error|exception|failed|failure|fatal|cannot|can't|could not|not found|no such|denied|undefined|panic|timed out|unexpected|invalid|错误|失败|无法|找不到/i;
const COMMAND = /^(sudo |[A-Z_]+=\S+ )*(npm|npx|pnpm|yarn|node|cargo|go|python3?|pip|pytest|make|git|gh|docker|kubectl|curl|psql|ls|cat|grep|rg|find|sed|\.\/)\S* \S/;
const PATHLIKE = /^[\p{L}\p{N}/\\._~@+*$-]+$/u;

/** The claims of a prose, `{ kind, text }`. */
export function claimsOf(prose) {
  const claims = new Map();
  const add = (kind, text) => claims.set(`${kind} ${text}`, { kind, text });
  const rest = prose
    .replace(/"([^"\n]*(?:\s"[^"\n]*"[^"\n]*)*)"|“([^”]*)”/g, (all, one, two) => {
      const quote = one ?? two;
      if (!ERROR_WORDS.test(quote) || !/\s/.test(quote)) return ` ${quote} `;
      add('error', quote.replace(/[.,;:!?。，；：-]+$/, ''));
      return ' ';
    })
    .replace(/`([^`\n]+)`/g, (all, span) => {
      if (COMMAND.test(span)) add('command', span);
      else if (/:\/\//.test(span)) add('url', span);
      else if (/^(0x)?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/.test(span)) add('hash', span);
      else if (PATHLIKE.test(span) && /[/\\]|\.\w{1,5}$/.test(span)) add('path', span);
      else add('identifier', span.replace(/\(\)$/, ''));
      return ' ';
    });
  for (const [url] of rest.matchAll(/https?:\/\/[^\s)>\]]+/g)) add('url', url.replace(/[.,;:]+$/, ''));
  const bare = rest.replace(/https?:\/\/[^\s)>\]]+/g, ' ');
  for (const [hash] of bare.matchAll(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g)) add('hash', hash);
  for (const [path] of bare.matchAll(/(?<![\w/])(?:[\w.@~-]+\/)+[\w.@-]+\.\w{1,5}\b/g)) add('path', path);
  for (const [number] of bare.replace(/\b[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]*\b/g, ' ').matchAll(/(?<![\p{L}_\d.])\d[\d,._]*\d(?!\d)/gu)) {
    if (number.replace(/\D/g, '').length >= 3) add('number', number);
  }
  return [...claims.values()];
}

/** One pattern for a claim, bounded at token ends. */
function patternOf({ kind, text }) {
  const body = escape(normal(text));
  switch (kind) {
    case 'path': return `(?<![\\w.-])${body}(?![\\w-]|\\.\\w)`;
    case 'command': return `(?<![\\w./-])${body}(?=$|[ ';&|)\\]}>,]|\\.(?!\\w))`;
    case 'number': {
      const plain = text.replace(/[,_]/g, '');
      const grouped = plain.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
      return `(?<![\\w]|\\d\\.)(?:${escape(plain)}|${escape(grouped)})(?!\\d|_|\\.\\d|[A-Za-z]{4})`;
    }
    case 'hash': return `(?<!\\w)${body}(?![g-zA-Z_])`;
    case 'url': return `(?<!\\w)${body}(?![\\w?=&%~+-]|/\\w)`;
    default: return `(?<!\\w)${body}(?!\\w)`;
  }
}

function textsOf(events) {
  const texts = [];
  const walk = (value) => {
    if (typeof value === 'string') texts.push(value);
    else if (value !== null && typeof value === 'object') Object.values(value).forEach(walk);
  };
  for (const { data } of events) {
    for (const block of (data.message ?? data).content) {
      if (block.type === 'text' || block.type === 'reasoning') texts.push(block.text);
      if (block.type === 'tool-call') {
        try {
          walk(JSON.parse(block.arguments));
        } catch {
          texts.push(block.arguments);
        }
      }
      if (block.type === 'tool-result') for (const inner of block.content) if (inner.type === 'text') texts.push(inner.text);
    }
  }
  return texts;
}

/** One search for each claim that is still open, text by text. */
export function checkBySearches(events, prose) {
  let open = claimsOf(prose).map((claim) => ({ text: claim.text, pattern: new RegExp(patternOf(claim), 'u') }));
  for (const text of textsOf(events)) {
    if (open.length === 0) break;
    const whole = normal(text);
    open = open.filter(({ pattern }) => !pattern.test(whole));
  }
  return open.map(({ text }) => text);
}

/** All claims in one expression, searched once. */
export function checkByAlternation(events, prose) {
  const claims = claimsOf(prose);
  const pattern = new RegExp(claims.map((claim) => `(${patternOf(claim)})`).join('|'), 'gu');
  const found = new Set();
  for (const text of textsOf(events)) {
    for (const hit of normal(text).matchAll(pattern)) found.add(hit.findIndex((group, at) => at > 0 && group !== undefined) - 1);
  }
  return claims.filter((_, at) => !found.has(at)).map(({ text }) => text);
}

const FAILED = /\[exit code: (\d+)\]\s*$/;
const ERROR_LINE = /^.*(?:error|Error|ERROR|ERR!|fatal|panic|xception|FAIL|failed|Failed|cannot|Cannot|not found|denied|undefined|✗|错误|失败).*$/gm;

/** The ledger: what each call did, merged by what it acted on. */
export function ledgerOf(events) {
  const lines = new Map();
  const open = new Map();
  const add = (kind, what, outcome, seq) => {
    const key = `${kind} ${what}`;
    lines.set(key, { kind, what, outcome, seq, times: (lines.get(key)?.times ?? 0) + 1 });
  };
  for (const { seq, data } of events) {
    for (const block of (data.message ?? data).content) {
      if (block.type === 'tool-call') open.set(block.id, [...open.get(block.id) ?? [], block]);
      if (block.type !== 'tool-result') continue;
      const call = open.get(block.toolCallId)?.shift();
      if (!call) continue;
      const args = JSON.parse(call.arguments);
      const text = block.content.map((inner) => inner.text ?? '').join('\n');
      const exit = FAILED.exec(text)?.[1];
      if (call.name === 'read') add('read', args.file_path, block.isError ? 'failed' : 'ok', seq);
      if (call.name === 'write' || call.name === 'edit') add('written', args.file_path, 'edited', seq);
      if (call.name === 'grep' || call.name === 'glob') {
        add(/^No (matches|files) found/.test(text) ? 'empty' : 'search', `${call.name} "${args.pattern}" ${args.path}`, text, seq);
      }
      if (call.name === 'bash') {
        add('command', args.command.replace(/\s+/g, ' '), exit ?? 'ok', seq);
        if (/\b(git (commit|push|bisect)|npm (install|publish))\b/.test(args.command)) add('effect', args.command, exit ?? 'ok', seq);
        if (exit !== undefined) for (const [line] of [...text.matchAll(ERROR_LINE)].slice(0, 9)) add('error', line.trim(), 'failed', seq);
      } else if (block.isError) add('error', text.split('\n')[0], 'failed', seq);
    }
  }
  return lines;
}
