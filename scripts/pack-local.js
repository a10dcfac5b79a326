/** `npm run pack:local`: one tarball in `dist/` with this platform's addon inside. */
import { join, relative } from 'node:path';
import { packLocal } from './lib/pack.js';
import { prepare } from './lib/prepare.js';
import { main } from './lib/process.js';
import { ROOT } from './lib/project.js';

await main(() => {
  prepare();
  console.log(relative(process.cwd(), packLocal(join(ROOT, 'dist'))));
});
