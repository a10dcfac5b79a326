/** The ground of the end-to-end tests: the real CLI, driven and read back, without the plugin's help. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RUNNER, createCli } from '../support/cli.js';
import { act, call, say } from '../support/script.js';

async function cliOf(t, options) {
  const cli = await createCli({ packages: [RUNNER], ...options });
  t.after(() => cli.close());
  return cli;
}

test('the CLI runs a task against the provider and its log is read back', async (t) => {
  const cli = await cliOf(t, {
    packages: [],
    files: { 'notes.txt': 'the secret is 42\n' },
    steps: { main: [act(call('c1', 'read', { file_path: 'notes.txt' })), say('It is 42.')] },
  });
  const { code, stdout, stderr } = await cli.run('find the secret');
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'It is 42.\n', stderr: '' });
  const [log] = cli.logs();
  assert.equal(log.header.cwd, cli.workspace);
  assert.ok(log.events.every((event, index) => event.seq === index));
  assert.deepEqual(log.surface.map(({ type }) => type),
    ['user/message', 'user/message', 'assistant/message', 'tool/result', 'assistant/message']);
  assert.match(JSON.stringify(log.surface[3]), /the secret is 42/);
  assert.equal(log.fault, undefined);
  assert.deepEqual(cli.provider.rejected, []);
  assert.deepEqual(cli.provider.script.left, {});
  assert.ok(cli.provider.requests.every(({ sessionId }) => sessionId === log.id));
});

test('the runner takes several turns, steers, runs commands and takes up a stored session', async (t) => {
  const cli = await cliOf(t, {
    files: { a: 'text of a\n' },
    steps: { main: [
      act(call('c1', 'read', { file_path: 'a' })), say('one'), say('two'), say('three'),
    ] },
  });
  const first = await cli.drive({ moves: [
    { prompt: 'first', at: [{ type: 'tool/result', steer: 'be quick' }] },
    { prompt: 'second' },
    { command: '/no-such-command' },
  ] });
  assert.equal(first.code, 0, first.stderr);
  const completed = { reason: { kind: 'completed' } };
  assert.deepEqual(first.outcome.outcomes, [completed, completed, { kind: 'unknown' }]);
  const steered = cli.provider.of('main')[1].messages.at(-1);
  assert.deepEqual([steered.role, steered.content], ['user', 'be quick']);

  const again = await cli.drive({ resume: first.outcome.session, moves: [{ prompt: 'third' }] });
  assert.equal(again.outcome.session, first.outcome.session);
  const texts = cli.provider.of('main').at(-1).messages.filter(({ role }) => role === 'user')
    .map(({ content }) => content).filter((content) => !content.startsWith('Current runtime context'));
  assert.deepEqual(texts, ['first', 'be quick', 'second', 'third']);
  assert.deepEqual(cli.provider.rejected, []);
});

test('the runner dies and cancels at an exact moment', async (t) => {
  const cli = await cliOf(t, {
    files: { a: 'text of a\n' },
    steps: { main: [
      act(call('c1', 'read', { file_path: 'a' })), act(call('c2', 'read', { file_path: 'a' })), say('after'),
    ] },
  });
  const died = await cli.drive({ moves: [
    { prompt: 'first', at: [{ type: 'tool/result', exit: true }] },
  ] });
  assert.equal(died.code, 9);
  const [{ id }] = cli.logs();
  const { outcome } = await cli.drive({ resume: id, moves: [
    { prompt: 'second', at: [{ type: 'tool/call', cancel: true }] },
    { prompt: 'third' },
  ] });
  assert.deepEqual(outcome.outcomes.map(({ reason }) => reason.kind), ['aborted', 'completed']);
  assert.deepEqual(cli.provider.rejected, []);
});
