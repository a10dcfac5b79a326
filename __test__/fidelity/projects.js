/** Projects to explore: near-identical paths on purpose, for a report that mixes them up is worse than none. */
import { identifier } from './languages.js';

const PROJECTS = [
  { root: '/home/dev/tallyd', language: 'rust', dirs: ['src/ingest', 'src/ingress', 'crates/wire/src', 'crates/wired/src', 'tests'] },
  { root: '/srv/build/portal', language: 'typescript', dirs: ['packages/auth/src', 'packages/authz/src', 'apps/web/src/pages', 'apps/web/src/page', 'test/e2e'] },
  { root: '/data/forecast', language: 'python', dirs: ['src/forecast/models', 'src/forecast/model', 'src/forecast/io', 'tests/unit', 'tests/units'] },
  { root: '/go/src/example.org/svc', language: 'go', dirs: ['internal/lease', 'internal/leases', 'cmd/svcd', 'pkg/client', 'pkg/clients'] },
  { root: '/opt/ci/billing', language: 'java', dirs: ['src/main/java/org/acme/billing', 'src/main/java/org/acme/bill', 'src/test/java/org/acme/billing'] },
  { root: '/home/小明/商城前端', language: 'vue', dirs: ['src/views/订单', 'src/views/order', 'src/api', 'src/apis', 'src/components/表格'] },
];

/**
 * @param chance - seeded chance.
 * @returns a project with `file()`, which names one of its files, absolute or relative, and `sibling(path)`,
 * a path that differs from a given one by little.
 */
export function projectOf(chance) {
  const base = chance.pick(PROJECTS);
  const absolute = chance.chance(0.5);
  const style = base.language === 'java' ? 'P' : 's';
  const extension = { rust: 'rs', typescript: 'ts', python: 'py', go: 'go', java: 'java', vue: 'vue' }[base.language];
  const seen = new Set();
  const file = (dir = chance.pick(base.dirs), name = identifier(chance, style)) => {
    const path = `${absolute ? `${base.root}/` : ''}${dir}/${name}.${extension}`;
    if (seen.has(path)) return file();
    seen.add(path);
    return path;
  };
  const sibling = (path) => {
    const dir = base.dirs.find((one) => path.includes(`${one}/`));
    const twin = base.dirs.find((one) => one !== dir && (one.startsWith(dir) || dir.startsWith(one)));
    return twin ? path.replace(`${dir}/`, `${twin}/`) : path.replace(`.${extension}`, `_v2.${extension}`);
  };
  return { ...base, file, sibling };
}
