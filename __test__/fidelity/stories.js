/** Explorations that look like real work: each plays on an explorer and leaves the report a person would write. */
import { LANGUAGES, identifier, number } from './languages.js';
import { Prose } from './prose.js';

const hash = (chance) => Array.from({ length: chance.pick([7, 8, 10, 40]) }, (_, at) => (
  at === 0 ? chance.pick([...'abcdef']) : at === 1 ? chance.pick([...'0123456789']) : chance.pick([...'0123456789abcdef']))).join('');

const facts = (e) => {
  const { chance, project } = e;
  const file = project.file();
  return {
    file,
    twin: project.sibling(file),
    ident: identifier(chance, 'c'),
    line: number(chance, 3),
    limit: number(chance, chance.int(3, 5)),
    ms: number(chance, chance.int(3, 4)),
    name: identifier(chance),
    tool: LANGUAGES[project.language],
  };
};

/** Reads around a place in the code, as one does before one understands it. */
function lookAround(e, files) {
  const { chance } = e;
  e.seen.push(...files);
  while (files.length > 0) {
    const together = files.splice(0, chance.int(1, 3));
    e.step(together.map((file) => e.read(file)), chance.chance(0.3) ? { text: `Let me look at ${together[0]}.` } : {});
  }
}

function failing(e, fact, extra = {}) {
  const error = fact.tool.error(fact);
  const output = fact.tool.failed({ ...fact, error });
  e.step([e.bash(fact.tool.test(fact.name), output, fact.tool.code)], extra);
  return error;
}

function bugHunt(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const guard = `limit ${fact.ident} = ${fact.limit}`;
  e.step([e.grep(fact.ident, project.dirs[0], [
    { file: fact.file, line: fact.line, text: guard }, { file: fact.twin, line: 17, text: `use ${fact.ident}` },
  ])], { text: 'First, where is it used?' });
  e.step([e.read(fact.file, [guard], fact.line - 3), e.read(fact.twin)]);
  lookAround(e, Array.from({ length: chance.int(2, 9) }, () => project.file()));
  const error = failing(e, fact);
  e.step([e.grep(`${fact.ident}_max`, project.root, [])], { reasoning: 'Perhaps there is a second limit somewhere.' });
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `问题在 ${p.path(fact.file)} 第 ${p.number(fact.line)} 行：${p.identifier(fact.ident)} 的上限是 ${p.number(fact.limit)}，${p.path(fact.twin)} 只是引用它。`,
      `运行 ${p.command(fact.tool.test(fact.name))} 会失败，报 ${p.error(error, true)}。`, '## 待办', '提高上限之前先确认调用方。');
  } else {
    p.add('## Findings', `The cause is in ${p.path(fact.file)} at line ${p.number(fact.line)}: ${p.identifier(fact.ident)} stops at ${p.number(fact.limit)}, and ${p.path(fact.twin)} merely uses it.`,
      `It shows when ${p.command(fact.tool.test(fact.name))} is run, which ends with ${p.error(error)}.`, '## Open', 'Raise the limit only after asking who calls it.');
  }
  return p;
}

function failedFix(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const commit = hash(chance);
  const error = failing(e, fact);
  lookAround(e, [fact.file, ...Array.from({ length: chance.int(1, 8) }, () => project.file())]);
  e.step([e.edit(fact.file, `${fact.ident} + 1`, fact.ident)], { text: 'An off-by-one, it seems.' });
  failing(e, fact, { text: 'Check the fix.' });
  e.step([e.edit(fact.file, fact.ident, `${fact.ident}.min(${fact.limit})`)], { text: 'That was not it: clamp it instead.' });
  e.step([e.bash(fact.tool.test(fact.name), fact.tool.passed(fact))]);
  e.step([e.bash(`git commit -qam "Clamp ${fact.ident}" && git log -1 --format=%H`, commit)]);
  const p = new Prose();
  if (zh) {
    p.add('## 已完成', `${p.path(fact.file)} 里的 ${p.identifier(fact.ident)} 现在限制为 ${p.number(fact.limit)}，已提交为 ${p.hash(commit)}；${p.command(fact.tool.test(fact.name))} 通过。`,
      '## 死路', `去掉加一没有用，仍然报 ${p.error(error, true)}。`);
  } else {
    p.add('## Done', `${p.identifier(fact.ident)} in ${p.path(fact.file)} is clamped to ${p.number(fact.limit)} now, committed as ${p.hash(commit)}; ${p.command(fact.tool.test(fact.name))} passes.`,
      '## Dead ends', `Dropping the plus one did not help, the run still ended with ${p.error(error)}.`);
  }
  return p;
}

function slowPath(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const [before, after] = [number(chance, 5), number(chance, 4)];
  const bench = `hyperfine --warmup 3 './run.sh --scenario ${fact.name}'`;
  e.step([e.bash(bench, `Benchmark 1: run\n  Time (mean): ${before} ms\n  Range: ${before - 90} ms … ${before + 140} ms`)]);
  e.step([e.bash(`perf report --stdio | head -${chance.int(20, 60)}`, Array.from({ length: 30 }, (_, at) => (
    `  ${Math.max(1, 40 - at)}.${chance.int(10, 99)}%  run  ${identifier(chance)}`)).join('\n'))]);
  lookAround(e, [fact.file, fact.twin, ...Array.from({ length: chance.int(3, 16) }, () => project.file())]);
  e.step([e.edit(fact.file, `${fact.ident}.clone()`, `&${fact.ident}`)]);
  e.step([e.bash(bench, `Benchmark 1: run\n  Time (mean): ${after} ms\n  Range: ${after - 9} ms … ${after + 14} ms`)]);
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `${p.path(fact.file)} 每次都会复制 ${p.identifier(fact.ident)}；改为引用后，场景耗时从 ${p.number(before)} 毫秒降到 ${p.number(after)} 毫秒。`,
      `测量方法：${p.command(bench)}。${p.path(fact.twin)} 与此无关。`);
  } else {
    p.add('## Findings', `${p.path(fact.file)} copied ${p.identifier(fact.ident)} each time; by reference the scenario takes ${p.number(after)} ms where it took ${p.number(before)} ms.`,
      `Measured with ${p.command(bench)}. ${p.path(fact.twin)} has nothing to do with it.`);
  }
  return p;
}

function upgrade(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const url = `https://docs.example.org/${identifier(chance, 'c')}/migrating-${number(chance, 3)}`;
  const install = `npm install ${fact.name}@${chance.int(2, 9)}.${chance.int(0, 30)}.${chance.int(0, 9)}`;
  const error = `npm ERR! Could not resolve dependency: peer ${fact.ident}@"^${fact.limit}" from ${fact.name}`;
  e.step([e.search(`${fact.name} migration`, [{ url, title: 'Migrating' }, { url: `${url}-old`, title: 'Older' }])]);
  e.step([e.fetch(url, `Rename ${fact.ident}. ${'The new loader reads its settings once and keeps them. '.repeat(chance.int(10, 80))}`)]);
  e.step([e.bash(install, `npm ERR! code ERESOLVE\n${error}`, 1)]);
  lookAround(e, [fact.file, ...Array.from({ length: chance.int(1, 6) }, () => project.file())]);
  e.step([e.grep(`${fact.ident}Legacy`, '.', [])]);
  const p = new Prose();
  if (zh) {
    p.add('## 死路', `${p.command(install)} 装不上：${p.error(error, true)}。`, '## 发现', `${p.url(url)} 说要给 ${p.identifier(fact.ident)} 改名，只有 ${p.path(fact.file)} 用到它。`);
  } else {
    p.add('## Dead ends', `${p.command(install)} does not resolve: ${p.error(error)}.`, '## Findings', `According to ${p.url(url)}, ${p.identifier(fact.ident)} has to be renamed, and only ${p.path(fact.file)} uses it.`);
  }
  return p;
}

function audit(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const [port, retries] = [chance.int(1024, 65_535), number(chance, 4)];
  const configs = ['staging', 'stage', 'prod', 'prod-eu'].map((name) => `deploy/${name}/values.yaml`);
  e.step([e.glob('deploy/**/*.yaml', project.root, configs)]);
  e.step(configs.slice(0, 2).map((file) => e.read(file, [`port: ${chance.int(1024, 65_535)}`])));
  e.step([e.read(configs[2], [`port: ${port}`, `retry_budget: ${retries}`]), e.readFails(configs[3].replace('.yaml', '.yml'))]);
  lookAround(e, [fact.file, ...Array.from({ length: chance.int(0, 12) }, () => project.file())]);
  e.step([e.grep('retry_budget', 'deploy/prod-eu', [])]);
  e.step([e.bash(`curl -s http://localhost:${port}/healthz`, `curl: (7) Failed to connect to localhost port ${port}`, 7)]);
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `${p.path(configs[2])} 使用端口 ${p.number(port).replace(',', '')}，重试预算为 ${p.number(retries)}；${p.path(configs[0])} 没有这个预算。`,
      `健康检查 ${p.command(`curl -s http://localhost:${port}/healthz`)} 连不上。`, '## 待办', `确认 ${p.path(fact.file)} 的默认值。`);
  } else {
    p.add('## Findings', `${p.path(configs[2])} listens on port ${p.number(port).replace(',', '')} with a retry budget of ${p.number(retries)}; ${p.path(configs[0])} has no such budget.`,
      `The health check ${p.command(`curl -s http://localhost:${port}/healthz`)} cannot connect.`, '## Open', `What ${p.path(fact.file)} takes as the default.`);
  }
  return p;
}

function survey(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const issue = number(chance, 4);
  const files = Array.from({ length: chance.int(8, 28) }, () => project.file());
  e.step([e.glob(`**/*.${fact.tool.ext}`, project.root, files)]);
  e.step([e.other('mcp__tracker__get_issue', { id: issue, with_comments: true },
    `Issue ${issue}: ${fact.ident} is called twice\n${'A long discussion follows. '.repeat(chance.int(5, 60))}`)]);
  const chosen = files.at(-1);
  lookAround(e, files.slice(0, -1));
  e.step([e.read(chosen, [`call ${fact.ident} twice`], fact.line)]);
  e.step([e.bash(`git log --oneline -S ${fact.ident} -- ${chosen}`, `${hash(chance).slice(0, 7)} Add ${fact.ident}`)]);
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `工单 ${p.number(issue)} 属实：${p.path(chosen)} 从第 ${p.number(fact.line)} 行起两次调用 ${p.identifier(fact.ident)}。`,
      `${p.path(files[0])} 及其余文件只调用一次。`);
  } else {
    p.add('## Findings', `Issue ${p.number(issue)} is right: from line ${p.number(fact.line)} on, ${p.path(chosen)} calls ${p.identifier(fact.ident)} twice.`,
      `${p.path(files[0])} and the others do so once.`);
  }
  return p;
}

function flaky(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const [good, bad] = [hash(chance), hash(chance)];
  const command = fact.tool.test(fact.name);
  let error = '';
  for (let run = chance.int(3, 6); run > 0; run -= 1) {
    if (chance.chance(0.5)) e.step([e.bash(command, fact.tool.passed(fact))]);
    else error = failing(e, fact);
  }
  error = failing(e, fact);
  e.step([e.bash('git log --oneline -12', `${bad} Cache the ${fact.ident}\n${good} Add tests\n`.repeat(6))]);
  e.step([e.bash(`git bisect start ${bad} ${good}`, 'Bisecting: 3 revisions left to test')]);
  lookAround(e, [fact.file, fact.twin, ...Array.from({ length: chance.int(0, 7) }, () => project.file())]);
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `${p.command(command)} 时过时不过，失败时报 ${p.error(error, true)}。`,
      `${p.hash(good)} 还是好的，${p.hash(bad)} 起开始出错，它在 ${p.path(fact.file)} 里缓存了 ${p.identifier(fact.ident)}。`);
  } else {
    p.add('## Findings', `${p.command(command)} passes and fails by turns; when it fails it says ${p.error(error)}.`,
      `${p.hash(good)} is still good, ${p.hash(bad)} is not: it caches ${p.identifier(fact.ident)} in ${p.path(fact.file)}.`);
  }
  return p;
}

function migration(e, zh) {
  const { chance, project } = e;
  const fact = facts(e);
  const [rows, orphans] = [number(chance, 6), number(chance, 3)];
  const count = `psql -At -c 'select count(*) from ${fact.name}'`;
  const script = `db/migrations/${chance.int(2020, 2026)}_${fact.name}.sql`;
  e.step([e.bash(count, String(rows))]);
  e.step([e.bash(`psql -At -c "select count(*) from ${fact.name} where owner is null"`, String(orphans))]);
  lookAround(e, [fact.file, ...Array.from({ length: chance.int(1, 10) }, () => project.file())]);
  e.step([e.write(script, `delete from ${fact.name} where owner is null;\n`)]);
  const error = `ERROR: update or delete on table "${fact.name}" violates foreign key constraint "${fact.ident}_fk"`;
  e.step([e.bash(`psql -v ON_ERROR_STOP=1 -f ${script}`, error, 3)]);
  e.step([e.other('mcp__chat__post_message', { channel: 'db', text: `Cleaning ${fact.name} is blocked` }, 'posted')]);
  const p = new Prose();
  if (zh) {
    p.add('## 发现', `表里有 ${p.number(rows)} 行，其中 ${p.number(orphans)} 行没有归属。`,
      '## 死路', `脚本 ${p.path(script)} 执行失败：${p.error(error, true)}。`, '## 待办', `先改 ${p.path(fact.file)}，它写入了这些行。行数用 ${p.command(count)} 查得。`);
  } else {
    p.add('## Findings', `The table has ${p.number(rows)} rows, and ${p.number(orphans)} of them have no owner.`,
      '## Dead ends', `The script ${p.path(script)} is refused: ${p.error(error)}.`, '## Open', `First mend ${p.path(fact.file)}, which writes such rows. Counted with ${p.command(count)}.`);
  }
  return p;
}

const NOTES = {
  en: [
    (p, file) => `I also read ${p.path(file)}, which is sound and needs no change.`,
    (p, file) => `Nothing in ${p.path(file)} depends on the order of the calls, so it can be left alone for now.`,
    (p, file, line) => `${p.path(file)} repeats the check from line ${p.number(line)} on, although the caller has made it already; that is harmless.`,
    (p, file) => `If somebody wonders about ${p.path(file)}: it is only built for the old release and nobody imports it.`,
  ],
  zh: [
    (p, file) => `也看了 ${p.path(file)}，没有问题，不需要改动。`,
    (p, file) => `${p.path(file)} 与调用顺序无关，可以先不管。`,
    (p, file, line) => `${p.path(file)} 从第 ${p.number(line)} 行起重复了调用方已经做过的检查，不影响结果。`,
    (p, file) => `${p.path(file)} 只为旧版本构建，没有别处引用。`,
  ],
};

/** What a careful person adds about the rest that was read. */
function notes(e, p, zh) {
  const files = e.seen.filter((file) => !p.known.path.includes(file));
  for (let left = Math.min(files.length, e.chance.int(1, 8)); left > 0; left -= 1) {
    const file = files.splice(e.chance.int(0, files.length - 1), 1)[0];
    p.add(e.chance.pick(NOTES[zh ? 'zh' : 'en'])(p, file, e.lineIn(file)));
  }
}

/**
 * Plays a story.
 *
 * @param name - a key of {@link STORIES}.
 * @param explorer - where it is played.
 * @param zh - whether its report is Chinese.
 * @returns the report as a {@link Prose}.
 */
export function tell(name, explorer, zh) {
  const prose = STORIES[name](explorer, zh);
  notes(explorer, prose, zh);
  return prose;
}

/** All stories by name. */
export const STORIES = { bugHunt, failedFix, slowPath, upgrade, audit, survey, flaky, migration };
