/**
 * `npm run release -- stage ARTIFACTS`: lays out in `dist/release` what the publish job publishes.
 * `npm run release -- platforms`: writes `npm/<triple>/` anew, after a new version or platform.
 */
import { join, relative, resolve } from 'node:path';
import { main } from './lib/process.js';
import { ROOT } from './lib/project.js';
import { stageRelease, writePlatformFolders } from './lib/stage.js';

await main(() => {
  const [command, artifacts] = process.argv.slice(2);
  if (command === 'platforms') {
    writePlatformFolders();
  } else if (command === 'stage' && artifacts) {
    const { entry, platforms } = stageRelease(resolve(artifacts), join(ROOT, 'dist', 'release'));
    for (const folder of [...Object.values(platforms), entry]) console.log(relative(process.cwd(), folder));
  } else {
    throw new Error('usage: npm run release -- stage ARTIFACTS | platforms');
  }
});
