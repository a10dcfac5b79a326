/**
 * The same death with marks that a foreign provider keeps in a file of its own, which the log cannot be
 * written together with: the log is the truth, and the provider is told later (docs/rewind.md 3.5, case R1).
 */
import test from 'node:test';
import { killAndResume } from './scene.js';

const MOMENTS = {
  'while the report streams': { request: 'streaming', edits: 0 },
  'between the price and the report': { edit: 1, disk: true, edits: 1 },
  'after the report, before completeFold': { edit: 2, disk: true, edits: 2 },
  'after the siblings, before completeFold': { edit: 6, disk: true, edits: 6 },
};

for (const [name, moment] of Object.entries(MOMENTS)) {
  test(`killed ${name}`, (t) => killAndResume(t, moment, { stored: true }));
}
