/** The report that lands: the core composes it, and persons' quotes are set in here, byte for byte. */
import { native } from '../native.js';
import { personsTexts, readEvidence } from './evidence.js';
import { draft, priceOfDrafts } from './landing.js';
import { quoted } from './messages.js';

/**
 * @param config - the resolved row.
 * @param events - the log snapshot.
 * @returns the language of the report: as configured, or as the persons of the session write.
 */
export function languageOf({ reportLanguage }, events) {
  return reportLanguage === 'auto' ? native.reportLanguage(personsTexts(events)) : reportLanguage;
}

/**
 * Composes the report of a fold.
 *
 * @param fold - the fold: its plan, prose, quotes, and what the model was sent.
 * @param events - the log snapshot.
 * @param edits - the core's edits, in order.
 * @param meter - `ctx.tokenMeter`, or undefined.
 * @returns `{ text, chars, ledger, unverified }`: the landed text; the length of all landed text; and what the
 * report's source keeps.
 */
export function composeReport(fold, events, edits, meter) {
  const { config, session, planned, mark, quotes } = fold;
  const rendered = quotes.map(quoted);
  const evidence = readEvidence(session, events, fold.folded, fold.sent, {
    prose: config.claimCheck === 'flag' ? fold.prose : undefined,
    tools: JSON.stringify({ ...config.ledgerTools, ...brackets(config) }),
    roots: session.header.cwd === undefined ? [] : [session.header.cwd],
  });
  const { pieces, reportChars, ledger, unverified } = planned.compose({
    prose: fold.prose,
    objective: mark.objective,
    quoteChars: rendered.map((text) => text.length),
    tokenRoom: roomByTokens(meter, fold.foldedTokens, draft(edits, '', fold.source())),
    ledgerShare: config.ledgerShare,
    ledgerCap: config.ledgerMaxChars,
  }, evidence);
  const text = pieces.map((piece) => piece.text ?? rendered[piece.quote]).join('');
  return { text, chars: reportChars, ledger, unverified };
}

/** The two tools that only bracket an exploration tell a ledger nothing. */
function brackets({ toolName, checkpointToolName }) {
  return { [toolName]: { act: 'quiet' }, [checkpointToolName]: { act: 'quiet' } };
}

/** The most characters of report that cost fewer tokens than the region: four a token, as the meter counts. */
function roomByTokens(meter, foldedTokens, empty) {
  if (foldedTokens === undefined) return undefined;
  return Math.max(0, (foldedTokens - priceOfDrafts(meter, empty) - 2) * 4);
}
