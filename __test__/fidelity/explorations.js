/** Seeded explorations: a story, a project, a size, and now and then a person who speaks in between. */
import { chanceOf, caseSeed } from '../laws/random.js';
import { Explorer } from './explorer.js';
import { projectOf } from './projects.js';
import { STORIES, tell } from './stories.js';

const ASKS = {
  en: ['Please find out why this happens, and do not change the public interface.', 'Look into it first; we talk about the fix afterwards.'],
  zh: ['请先查清楚原因，不要改公开接口。', '先调查一下，修复方案之后再讨论。'],
};

const REMARKS = {
  en: [
    'Wait: never touch production, port 7777 is live.', 'Only in staging!\nAnd keep the old name, our partners use it.',
    '> quoted by hand\n## Not a heading\nUse `v2` for it. 🙏', 'No, to Go, not to Rust.',
  ],
  zh: ['等一下：不要动生产环境，端口 7777 正在使用。', '只在测试环境里做！\n另外保留旧名字，合作方在用。', '不对，应该改成 Go，不是 Rust。🙏'],
};

/**
 * @param seed - the seed of the run.
 * @param index - the exploration's number in it.
 * @returns `{ name, language, root, prompt, steps, prose, chance }`.
 */
export function explorationOf(seed, index) {
  const chance = chanceOf(caseSeed(seed, index));
  const names = Object.keys(STORIES);
  const name = names[index % names.length];
  const language = index % 3 === 2 ? 'zh' : 'en';
  const project = projectOf(chance);
  const size = chance.weighted([[3, chance.int(4, 15)], [4, chance.int(20, 60)], [3, chance.int(80, 220)]]);
  const explorer = new Explorer(chance, project, { size, sharedIds: chance.chance(0.3) });
  const prose = tell(name, explorer, language === 'zh');
  const { steps } = explorer;
  for (let remarks = chance.weighted([[7, 0], [2, 1], [1, 2]]); remarks > 0; remarks -= 1) {
    chance.pick(steps).person = chance.pick(REMARKS[language]);
  }
  return { name, language, root: project.root, prompt: chance.pick(ASKS[language]), steps, prose, chance };
}
