/** Settings of the entry plugin (docs/rewind.md 2.1, 4.6). */
import z from '@deepseek-ai/schemastery';
import { strict } from '../host/config.js';

/** What calling a tool can amount to, as the core's tool table names it. */
const ACTS = ['read', 'write', 'edit', 'search', 'command', 'call', 'effect', 'tell', 'quiet'];

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The entry plugin's row. A typo or a value out of range fails the boot and names the key. */
export const Config = strict(z.object({
  toolName: z.string().pattern(NAME).default('rewind')
    .description('Name of the model-facing fold tool.'),
  checkpointToolName: z.string().pattern(NAME).default('checkpoint')
    .description('Name of the tool that sets marks; tells the mark\'s call from its siblings where a mark has no callId.'),
  maxTokens: z.natural().min(16).max(1_000_000).default(1024)
    .description('Output budget of the report call, in tokens. A cut answer is retried with twice as much, up to 4 times this.'),
  maxSummarizationRetries: z.natural().max(10).default(2)
    .description('Further attempts after an answer that is no report.'),
  summarizationProvider: z.string()
    .description('Provider of the report call; the session\'s own route where absent. Set with summarizationModel.'),
  summarizationModel: z.string()
    .description('Model of the report call; the session\'s own route where absent. Set with summarizationProvider.'),
  reportLanguage: z.union(['en', 'zh', 'auto']).default('en')
    .description('Language of the report and of the lines that land beside it. auto: as the persons of the session write.'),
  report: z.union(['model', 'receipt']).default('model')
    .description('Who writes the report: the model, or code alone without any model call.'),
  onSummaryFailure: z.union(['reject', 'receipt']).default('reject')
    .description('When the model gives no report: reject the fold, or land a report made by code alone.'),
  claimCheck: z.union(['flag', 'off']).default('flag')
    .description('Whether what the report states and nothing shows is listed under it.'),
  minSavings: z.natural().max(10_000_000).default(0)
    .description('Tokens that a fold must be able to save; with less it is refused before any request.'),
  ledgerShare: z.number().min(0).max(1).default(0.4)
    .description('Share of the folded text that the evidence ledger may take.'),
  ledgerMaxChars: z.natural().max(200_000).default(6000)
    .description('The most the evidence ledger may take, in characters.'),
  ledgerTools: z.dict(z.object({
    act: z.union(ACTS).required().description('What calling the tool amounts to.'),
    argument: z.string().description('The argument that says what it acts on.'),
    within: z.string().description('The argument that says where it searches.'),
  })).default({})
    .description('What further tools mean to the ledger, by tool name.'),
}), 'tool-rewind', (config) => nameFault(config) ?? routeFault(config));

/** @returns a sentence where one name stands for both tools. */
function nameFault({ toolName, checkpointToolName }) {
  return toolName === checkpointToolName
    ? `toolName and checkpointToolName are both ${toolName}: one tool sets marks and the other folds, so name them apart.`
    : undefined;
}

/** @returns a sentence where the route of the report call is half given. */
function routeFault({ summarizationProvider, summarizationModel }) {
  for (const [key, value] of Object.entries({ summarizationProvider, summarizationModel })) {
    if (value !== undefined && value.trim() === '') return `${key} must not be empty; leave it out to use the session's route.`;
  }
  if ((summarizationProvider === undefined) !== (summarizationModel === undefined)) {
    const missing = summarizationProvider === undefined ? 'summarizationProvider' : 'summarizationModel';
    return `${missing} is missing: set summarizationProvider and summarizationModel together, or neither.`;
  }
  return undefined;
}
