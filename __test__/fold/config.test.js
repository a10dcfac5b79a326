/** The entry plugin's row: every fault names the key, the value and what is expected (docs/rewind.md 2.1, 4.6). */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as rewind from '../../index.js';
import { boot, row } from '../support/loader.js';

const faults = (config) => rewind.Config['~standard'].validate(config).issues?.map(({ message }) => message) ?? [];

/** Row, the key, what else the message must show. */
const BAD = [
  [{ toolname: 'x' }, 'toolname', /did you mean toolName\?/],
  [{ maxToken: 5 }, 'maxToken', /did you mean maxTokens\?/],
  [{ summarisationModel: 'm' }, 'summarisationModel', /did you mean summarizationModel\?/],
  [{ toolName: '' }, 'toolName', /""/],
  [{ toolName: 'has space' }, 'toolName', /has space/],
  [{ toolName: '{{x}}' }, 'toolName', /\{\{x\}\}/],
  [{ toolName: 7 }, 'toolName', /string.*7/],
  [{ checkpointToolName: 'a`b' }, 'checkpointToolName', /a`b/],
  [{ maxTokens: 0 }, 'maxTokens', /a whole number from 16 to 1000000 but got 0$/],
  [{ maxTokens: -1 }, 'maxTokens', /-1/],
  [{ maxTokens: 99.5 }, 'maxTokens', /99\.5/],
  [{ maxTokens: '1024' }, 'maxTokens', /number.*"1024"/],
  [{ maxTokens: NaN }, 'maxTokens', /NaN/],
  [{ maxTokens: Infinity }, 'maxTokens', /Infinity/],
  [{ maxSummarizationRetries: -1 }, 'maxSummarizationRetries', /-1/],
  [{ maxSummarizationRetries: 1.5 }, 'maxSummarizationRetries', /1\.5/],
  [{ maxSummarizationRetries: 1000 }, 'maxSummarizationRetries', /a whole number from 0 to 10 but got 1000$/],
  [{ reportLanguage: 'fr' }, 'reportLanguage', /"en" \| "zh".*"fr"/],
  [{ reportLanguage: 1 }, 'reportLanguage', /"en" \| "zh"/],
  [{ summarizationProvider: 'p' }, 'summarizationModel', /missing.*summarizationProvider and summarizationModel together/],
  [{ summarizationModel: 'm' }, 'summarizationProvider', /missing/],
  [{ summarizationProvider: '', summarizationModel: '' }, 'summarizationProvider', /empty/],
  [{ summarizationProvider: 'p', summarizationModel: '  ' }, 'summarizationModel', /empty/],
  [{ foo: 1 }, 'foo', /^tool-rewind: foo is not a setting\. Known settings: toolName, /],
  [{ ledgerTools: { grep: { act: 'search', argumnt: 'q' } } }, 'ledgerTools.grep.argumnt', /did you mean argument\?/],
  [{ ledgerTools: { grep: { act: 'look' } } }, 'ledgerTools.grep.act', /"read" \| .*"look"/],
  [{ summarizationProvider: 5, summarizationModel: 'm' }, 'summarizationProvider', /string.*5/],
];

for (const [config, key, rest] of BAD) {
  test(`${JSON.stringify(config)} is refused`, () => {
    const [message, ...more] = faults(config);
    assert.equal(more.length, 0, more.join('\n'));
    assert.ok(message.startsWith('tool-rewind: ') && message.includes(key), message);
    assert.match(message, rest);
  });
}

test('the defaults are those of the contract, and a full row is taken as it is', () => {
  const { toolName, checkpointToolName, maxTokens, maxSummarizationRetries, reportLanguage, ...rest } = rewind.Config({});
  assert.deepEqual(
    [toolName, checkpointToolName, maxTokens, maxSummarizationRetries, reportLanguage],
    ['rewind', 'checkpoint', 1024, 2, 'en'],
  );
  assert.equal('summarizationProvider' in rest || 'summarizationModel' in rest, false);
  const full = {
    toolName: 'fold', checkpointToolName: 'mark', maxTokens: 2048, maxSummarizationRetries: 0, reportLanguage: 'zh',
    summarizationProvider: 'deepseek', summarizationModel: 'deepseek-chat',
  };
  assert.deepEqual({ ...rewind.Config(full), ...full }, rewind.Config(full));
});

const SERVICES = [
  row('llm', '@deepseek-ai/dsh-llm'),
  row('session', '@deepseek-ai/dsh-session'),
  row('system-prompt', '@deepseek-ai/dsh-system-prompt', { persona: 'test' }),
  row('tools', '@deepseek-ai/dsh-tools'),
];

test('through the real Loader a bad row fails the boot with these words, and a good one starts', async (t) => {
  const entry = (config) => [...SERVICES, row('tool-rewind', '../../index.js', config)];
  await assert.rejects(boot(t, entry({ maxTokns: 5 })), (error) => {
    assert.match(error.message, /tool-rewind/);
    assert.match(error.message, /maxTokns is not a setting; did you mean maxTokens\?/);
    return true;
  });
  await assert.rejects(boot(t, entry({ maxTokens: 0, reportLanguage: 'fr' })), /maxTokens.*0[\s\S]*reportLanguage.*"fr"/);
  const ctx = await boot(t, entry({ toolName: 'fold_up' }));
  assert.ok(ctx.rewind && ctx.tools.get('fold_up'));
});

test('the module is a plugin by its named exports alone', () => {
  assert.deepEqual(Object.keys(rewind).toSorted(), [
    'Config', 'REWIND_REPORT_SOURCE', 'RewindError', 'RewindService', 'apply', 'inject', 'isRewindReportSource', 'name',
  ]);
  assert.equal(Object.isFrozen(rewind.REWIND_REPORT_SOURCE), true);
});
