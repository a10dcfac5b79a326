import assert from 'node:assert/strict';
import test from 'node:test';
import { toWire, wireFault } from './wire.js';

const user = (content = 'hello') => ({ role: 'user', content });
const answer = (content) => ({ role: 'assistant', content });
const calls = (...ids) => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })),
});
const result = (id, content = 'output') => ({ role: 'tool', tool_call_id: id, content });

const MISSING = "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
  + "'tool_call_id'. The following tool_call_ids did not have response messages: ";
const ORPHAN = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'";

test('a valid sequence has no fault', () => {
  const valid = [
    [user()],
    [{ role: 'system', content: 's' }, user(), answer('hi'), user()],
    [user(), calls('a'), result('a'), answer('done')],
    [user(), calls('a', 'b'), result('b'), result('a')],
    [user(), calls('a'), result('a'), calls('a'), result('a')],
    [user(), calls('a', 'a'), result('a'), result('a')],
    [user([{ type: 'text', text: 'see' }, { type: 'image_url', image_url: { url: 'x' } }])],
  ];
  for (const messages of valid) assert.equal(wireFault(messages), undefined, JSON.stringify(messages));
});

test('a call without its result is named, at its carrier', () => {
  const named = (messages, index, ids) => {
    assert.deepEqual(wireFault(messages), { index, message: MISSING + ids });
  };
  named([user(), calls('a', 'b'), result('a')], 1, 'b');
  named([user(), calls('a'), user()], 1, 'a');
  named([user(), calls('a'), answer('x'), result('a')], 1, 'a');
  named([calls('a', 'b', 'c')], 0, 'a, b, c');
});

test('two calls that share an id need two results', () => {
  assert.deepEqual(wireFault([calls('a', 'a'), result('a'), user()]), { index: 0, message: `${MISSING}a` });
});

test('a message of a person between a call and its result breaks the pair', () => {
  assert.equal(wireFault([calls('a', 'b'), result('a'), user('steer'), result('b')]).message, `${MISSING}b`);
});

test('a result without its call is refused', () => {
  const message = `${ORPHAN} (messages[1] answers 'a')`;
  assert.deepEqual(wireFault([user(), result('a')]), { index: 1, message });
  assert.equal(wireFault([calls('a'), result('a'), result('a')]).index, 2);
  assert.equal(wireFault([calls('a'), result('b')]).index, 1);
  assert.equal(wireFault([user(), answer('x'), result('a')]).index, 2);
});

test('a message without content is refused', () => {
  assert.deepEqual(wireFault([user(), { role: 'assistant', content: '', reasoning_content: 'hm' }, user()]), {
    index: 1, message: 'Invalid assistant message: content or tool_calls must be set',
  });
  assert.equal(wireFault([user('')]).index, 0);
  assert.equal(wireFault([user([{ type: 'text', text: '' }])]).index, 0);
  assert.equal(wireFault([calls('a'), result('a', '')]).index, 1);
  assert.equal(wireFault([{ role: 'assistant', content: '', tool_calls: [] }]).index, 0);
});

test('an unknown role, a result without an id and an empty array are refused', () => {
  assert.equal(wireFault([{ role: 'tester', content: 'x' }]).index, 0);
  assert.equal(wireFault([user(), { role: 'tool', content: 'x' }]).message,
    "Missing required parameter: 'messages[1].tool_call_id'.");
  assert.match(wireFault([]).message, /empty array/);
  assert.match(wireFault(undefined).message, /empty array/);
});

test('a harness request is laid out as the shipped adapter sends it', () => {
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'look' }] },
    { role: 'assistant', content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'reading' },
      { type: 'tool-call', id: 'a', name: 'read', arguments: '{"path":"x"}' },
    ] },
    { role: 'user', content: [{ type: 'tool-result', toolCallId: 'a', content: [] }] },
  ];
  assert.deepEqual(toWire({ system: 'be good', messages }), [
    { role: 'system', content: 'be good' },
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: 'reading',
      reasoning_content: 'hm',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: '(no output)' },
  ]);
});
