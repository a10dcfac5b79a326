/** Settings of the entry plugin (spec/rewind.md 2.1, 4.6). */
import z from '@deepseek-ai/schemastery';
import { strict } from '../host/config.js';

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
  reportLanguage: z.union(['en', 'zh']).default('en')
    .description('Language of the report and of everything this plugin writes around it.'),
}), 'tool-rewind', ({ summarizationProvider, summarizationModel }) => {
  for (const [key, value] of Object.entries({ summarizationProvider, summarizationModel })) {
    if (value !== undefined && value.trim() === '') return `${key} must not be empty; leave it out to use the session's route.`;
  }
  if ((summarizationProvider === undefined) !== (summarizationModel === undefined)) {
    const missing = summarizationProvider === undefined ? 'summarizationProvider' : 'summarizationModel';
    return `${missing} is missing: set summarizationProvider and summarizationModel together, or neither.`;
  }
  return undefined;
});
