/** The seqs of every reading cross in one buffer: what is kept beyond a reading has to be a copy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Session } from '@deepseek-ai/dsh-session';
import { appendTurn, growSession } from '../../benches/sessions.js';
import { follow } from '../../plugin/host/abort.js';
import { readSurface, readWindow } from '../../plugin/host/surface.js';
import { Config } from '../../plugin/rewind/config.js';
import { Fold } from '../../plugin/rewind/fold.js';
import { readMark } from '../../plugin/rewind/mark.js';
import { reportRequest } from '../../plugin/rewind/request.js';

test('a reading is of its own session, whatever was read before', () => {
  const [short, long] = [growSession(300), growSession(3_000)];
  for (const session of [long, short, long]) {
    const { nodes } = session.surface;
    assert.deepEqual([...readSurface(session).nodes], nodes);
    const logLength = nodes[Math.floor(nodes.length / 2)];
    const window = readWindow(session, logLength);
    assert.deepEqual([...window.nodes], nodes.slice(window.from));
    const { type } = session.events[window.nodes[0]];
    assert.deepEqual([type, window.nodes[0] < logLength, window.nodes[1] >= logLength || window.nodes[2] >= logLength], [
      'assistant/message', true, true,
    ]);
  }
});

test('what a fold remembers as sent and as folded outlives the next reading', () => {
  const session = growSession(1_000);
  session.append('request/header', { header: { config: { provider: 'test', model: 'test' } }, reason: 'initial' });
  const { nodes } = session.surface;
  const fold = new Fold({ ctx: { get: () => undefined }, config: Config({}) }, { session }, follow());
  fold.preview(readMark({ id: 1, logLength: nodes[Math.floor(nodes.length / 2)] }, session.id));
  fold.route = { routed: true, provider: 'test', model: 'test' };
  fold.abilities = { images: true };
  reportRequest(fold);
  const { siblings, segments: [segment] } = fold;
  // Shorter, so that it goes into the same buffer, and shifted by one, so that no seq stands where it stood.
  const other = Session.create('other');
  other.append('request/header', { header: { config: { provider: 'test', model: 'test' } }, reason: 'initial' });
  appendTurn(other, 1);
  readSurface(other);
  assert.deepEqual([...fold.sent.sent], nodes);
  assert.deepEqual([siblings, segment], [[], nodes.slice(-segment.length)]);
});
