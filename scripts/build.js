/** `npm run build`: everything that has to be there before the package can be loaded. */
import { prepare } from './lib/prepare.js';
import { main } from './lib/process.js';

await main(prepare);
