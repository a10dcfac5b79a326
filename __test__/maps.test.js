/** The maps from tricky inputs to tests: complete, and true of the files that they name. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const ROOT = new URL('../', import.meta.url);
const MAPS = {
  '__test__/prune/README.md': [19, 34],
  '__test__/turn-memory/README.md': [1, 18],
};

for (const [map, [first, last]] of Object.entries(MAPS)) {
  test(`${map} names a test for every tricky input, and each is there`, () => {
    const text = readFileSync(new URL(map, ROOT), 'utf8');
    const rows = [...text.matchAll(/^\| (\d+) [^|]*\| (.*) \|$/gm)].map(([, number, tests]) => [Number(number), tests]);
    assert.deepEqual(rows.map(([number]) => number), Array.from({ length: last - first + 1 }, (_, at) => first + at));
    const lost = rows.flatMap(([number, tests]) => tests.split('; ').flatMap((one) => {
      const [, path, words] = /^`([^`]+)` (.+)$/.exec(one) ?? [];
      assert.ok(path, `${number}: ${one}`);
      return readFileSync(new URL(path, ROOT), 'utf8').includes(words) ? [] : [`${number}: ${path} has no "${words}"`];
    }));
    assert.deepEqual(lost, []);
  });
}
