import assert from 'node:assert/strict';
import { test } from 'node:test';
import { act, call, say as answer } from '../support/script.js';
import { BROWSER, createWeb, enter, say, shot } from './support.js';

const REPORT = '## Findings\nPort **7777** is taken by `proxy.ts`.\n\n## Open\nMove it to 7788.';
const TEXT = 'the port is 7777 here\n'.repeat(200);

test('a fold in the web view: the row, the report, the commands, after a reload and in another browser', {
  skip: BROWSER ? false : 'Chromium is not installed',
}, async (t) => {
  let write;
  const written = new Promise((resolve) => { write = resolve; });
  const web = await createWeb({
    files: { 'proxy.ts': TEXT, 'other.ts': TEXT },
    steps: {
      main: [
        act(call('cp', 'checkpoint', { objective: 'find who uses the port' })),
        act([call('r1', 'read', { file_path: 'proxy.ts' }), call('r2', 'read', { file_path: 'other.ts' })]),
        act(call('rw', 'rewind')),
        act(call('rw2', 'rewind')),
        act(call('rc', 'recall', { path: 'proxy.ts', limit: 200 })),
        answer('The proxy uses it.'),
      ],
      report: [async () => {
        await written;
        return answer(REPORT);
      }],
    },
  });
  t.after(() => web.close());
  const { page, faults } = await web.open();
  await enter(page, web.workspace);
  await say(page, 'Who uses port 7777?');

  await t.test('while the report is being written, the row says so', async () => {
    const running = page.locator('[data-chat-call-id="rw"] [data-tool="rewind"][data-state="running"]');
    await running.getByText('Writing the report').first().waitFor();
    await shot(page, 'running');
  });
  write();
  await page.getByText('The proxy uses it.').waitFor();

  const looks = async (view, name) => {
    const row = view.locator('[data-chat-call-id="rw"] [data-tool="rewind"][data-state="ok"]');
    await row.waitFor();
    assert.match(await row.innerText(), /Folded 3 nodes: [\d,]+ to \d+ tokens/);
    await row.getByRole('button').first().click();
    const report = row.locator('[data-rewind-report]');
    await report.waitFor();
    const text = await report.innerText();
    assert.match(text, /Findings/);
    assert.match(text, /Port 7777 is taken by proxy\.ts/);
    assert.equal(await report.getByRole('heading', { name: 'Findings' }).count(), 1, 'the report is rendered, not printed');
    await shot(view, name);
    // The picture in the README is this part of the page.
    await shot(view, `${name}-chat`, { x: 390, y: 80, width: 780, height: 600 });
  };
  await looks(page, 'fold');

  await t.test('the checkpoint shows its objective, a refusal reads as a sentence', async () => {
    await page.locator('[data-chat-call-id="cp"]').getByText('find who uses the port').first().waitFor();
    const refused = page.locator('[data-chat-call-id="rw2"] [data-tool="rewind"][data-state="error"]');
    await refused.getByText(/folded already/).first().waitFor();
  });

  await t.test('recall names what it looked for, and opens to what it returned', async () => {
    const row = page.locator('[data-chat-call-id="rc"]');
    await row.getByText('proxy.ts').first().waitFor();
    await row.getByRole('button').first().click();
    await row.getByText(/the port is 7777 here/).first().waitFor();
    await shot(page, 'recall');
  });

  await t.test('the model never reads the report a second time', () => {
    const last = web.provider.requests.filter(({ body }) => body.max_tokens > 64).at(-1).body;
    const said = JSON.stringify(last.messages);
    assert.equal(said.split('Move it to 7788').length - 1, 1);
    assert.deepEqual(web.provider.rejected ?? [], []);
  });

  await t.test('/rewind list reads well', async () => {
    await say(page, '/rewind list');
    const output = page.locator('[data-chat-flow-kind="command"]').last();
    await output.getByText(/mark 1/i).first().waitFor();
    await shot(page, 'rewind-list');
  });

  await t.test('a reload, a restart and another browser show the same', async () => {
    await page.reload();
    await page.getByText('The proxy uses it.').waitFor();
    await looks(page, 'reload');
    assert.deepEqual(faults, []);
    await page.close();
    await web.restart();
    const other = await web.open();
    await other.page.getByRole('treeitem', { name: 'A title' }).click();
    await other.page.getByText('The proxy uses it.').waitFor();
    await looks(other.page, 'other-browser');
    assert.deepEqual(other.faults, []);
  });
});
