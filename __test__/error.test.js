/** The package's error class, docs/rewind.md 4.1. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HarnessError, isHarnessError } from '@deepseek-ai/dsh-llm';
import { RewindError } from '../plugin/host/error.js';

test('it is a HarnessError, so that name and code reach the log', () => {
  const error = new RewindError('EMPTY_REGION', 'Nothing to fold.');
  assert.ok(error instanceof HarnessError);
  assert.ok(isHarnessError(error));
  assert.deepEqual(
    { name: error.name, code: error.code, message: error.message, detail: error.detail },
    { name: 'RewindError', code: 'EMPTY_REGION', message: 'Nothing to fold.', detail: {} },
  );
  assert.ok(!('cause' in error));
});

test('facts stay in detail, a cause is chained', () => {
  const cause = new Error('socket closed');
  const error = new RewindError('SUMMARY_FAILED', 'No report.', { cause, finish: 'error', outputTokens: 3 });
  assert.equal(error.cause, cause);
  assert.deepEqual(error.detail, { finish: 'error', outputTokens: 3 });
  assert.ok(Object.isFrozen(error.detail));
});
