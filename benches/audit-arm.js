/** `dsh-rewind audit --json` on so many threads, and the most memory that the process held on its way. */
import { native } from '../plugin/native.js';

const [threads, path] = process.argv.slice(2);
const code = native.auditCommand(['audit', '--json', '--threads', threads, path]);
console.error(JSON.stringify({ code, rss: process.resourceUsage().maxRSS * 1024 }));
