/**
 * The process is killed in the middle of a fold whose marks live in the session log itself: whatever prefix
 * of the log is left, the exploration is folded once, by the report that stands or by the next call, and
 * nobody is nagged for a fold that stands (docs/rewind.md 3.5, 5).
 */
import test from 'node:test';
import { killAndResume } from './scene.js';

const MOMENTS = {
  'before the report request': { request: 'sent', edits: 0 },
  'while the report streams': { request: 'streaming', edits: 0 },
  'in the commit, before it is flushed': { edit: 6, edits: 0 },
  'between the price and the report': { edit: 1, disk: true, edits: 1 },
  'after the report, before completeFold': { edit: 2, disk: true, edits: 2 },
  'between the price and the pointer': { edit: 3, disk: true, edits: 3 },
  'after the pointer': { edit: 4, disk: true, edits: 4 },
  'between the price and the sibling': { edit: 5, disk: true, edits: 5 },
  'after the siblings': { edit: 6, disk: true, edits: 6 },
  'after everything': { result: 'w1', disk: true, edits: 6 },
  'after everything, before it is flushed': { result: 'w1', edits: 0 },
};

for (const [name, moment] of Object.entries(MOMENTS)) {
  test(`killed ${name}`, (t) => killAndResume(t, moment));
}
