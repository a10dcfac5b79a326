/** What code, test runs and failures look like in several programming languages. All of it is written by hand. */

const number = (chance, digits = chance.int(2, 5)) => chance.int(10 ** (digits - 1), 10 ** digits - 1);

/** Each template is a line of code; `n` makes identifiers, `d` numbers. */
const CODE = {
  rust: [
    ({ n }) => `pub fn ${n()}(&self, ${n()}: u32) -> Result<${n('P')}, ${n('P')}Error> {`,
    ({ n }) => `    let ${n()} = self.${n()}.lock().map_err(|_| ${n('P')}Error::Poisoned)?;`,
    ({ n, d }) => `    if ${n()}.len() > ${d()} {`,
    ({ n, d }) => `const ${n('U')}: usize = ${d()};`,
    ({ n }) => `        return Err(${n('P')}Error::${n('P')});`,
    ({ n }) => `    tracing::debug!(target: "${n()}", "${n()} reached {}", ${n()});`,
    () => '    }',
    () => '}',
    () => '',
  ],
  typescript: [
    ({ n }) => `export async function ${n('c')}(${n('c')}: ${n('P')}, options: ${n('P')}Options = {}) {`,
    ({ n }) => `  const ${n('c')} = await this.${n('c')}.${n('c')}(${n('c')});`,
    ({ n, d }) => `  if (${n('c')} >= ${d()}) throw new ${n('P')}Error('${n()} exceeded');`,
    ({ n, d }) => `export const ${n('U')} = ${d()};`,
    ({ n }) => `import { ${n('P')} } from './${n()}.js';`,
    ({ n }) => `  return ${n('c')}.map((${n('c')}) => ${n('c')}.${n('c')});`,
    () => '}',
    () => '',
  ],
  python: [
    ({ n }) => `def ${n()}(self, ${n()}, *, ${n()}=None):`,
    ({ n, d }) => `    self.${n()} = ${n()}.get("${n()}", ${d()})`,
    ({ n, d }) => `    if len(${n()}) > ${d()}:`,
    ({ n }) => `        raise ${n('P')}Error(f"${n()} is not {${n()}}")`,
    ({ n }) => `class ${n('P')}(${n('P')}Base):`,
    ({ n }) => `    return [${n()} for ${n()} in self.${n()} if ${n()}.${n()}]`,
    () => '',
  ],
  go: [
    ({ n }) => `func (s *${n('P')}) ${n('P')}(ctx context.Context, ${n('c')} string) error {`,
    ({ n }) => `\t${n('c')}, err := s.${n('c')}.${n('P')}(ctx, ${n('c')})`,
    () => '\tif err != nil {',
    ({ n }) => `\t\treturn fmt.Errorf("${n()}: %w", err)`,
    ({ n, d }) => `const ${n('c')} = ${d()} * time.Millisecond`,
    () => '\t}',
    () => '}',
    () => '',
  ],
  java: [
    ({ n }) => `    public ${n('P')} ${n('c')}(final ${n('P')} ${n('c')}) throws ${n('P')}Exception {`,
    ({ n }) => `        return ${n('c')}.stream().filter(${n('P')}::is${n('P')}).toList();`,
    ({ n, d }) => `    private static final int ${n('U')} = ${d()};`,
    ({ n }) => `        log.info("${n()} for {}", ${n('c')}.get${n('P')}());`,
    ({ n }) => `@Service public class ${n('P')}Service implements ${n('P')} {`,
    () => '    }',
    () => '',
  ],
  vue: [
    ({ n }) => `const ${n('c')} = ref<${n('P')}[]>([]) // 列表数据`,
    ({ n, d }) => `const ${n('U')} = ${d()} // 上限，超过则分页`,
    ({ n }) => `watch(() => props.${n('c')}, async (value) => { await ${n('c')}(value) })`,
    ({ n }) => `  <${n('P')}Table :rows="${n('c')}" @change="${n('c')}" />`,
    ({ n }) => `// 处理 ${n('c')} 的返回值，失败时提示用户`,
    ({ n }) => `export function ${n('c')}(params: ${n('P')}Query) {`,
    () => '}',
    () => '',
  ],
};

/** How each language runs its tests, and how a failure and a success read. */
export const LANGUAGES = {
  rust: {
    ext: 'rs',
    check: () => 'cargo clippy --all-targets -- -D warnings',
    test: (name) => `cargo test --package core ${name}`,
    error: ({ ident }) => `error[E0308]: mismatched types: expected \`u32\`, found \`${ident}\``,
    failed: ({ error, file, line, name, ms }) => `   Compiling core v0.4.2\n${error}\n  --> ${file}:${line}:17\nrunning 41 tests\n`
      + `test ${name} ... FAILED\n\nfailures:\n    ${name}\n\ntest result: FAILED. 40 passed; 1 failed; finished in ${ms}ms`,
    passed: ({ ms }) => `running 41 tests\ntest result: ok. 41 passed; 0 failed; 0 ignored; finished in ${ms}ms`,
    code: 101,
  },
  typescript: {
    ext: 'ts',
    check: () => 'npx tsc --noEmit -p tsconfig.json',
    test: (name) => `npx vitest run ${name}`,
    error: ({ file, line, ident }) => `${file}(${line},9): error TS2345: Argument of type '${ident}' is not assignable`,
    failed: ({ error, name, ms }) => ` RUN  v2.1.8\n\n FAIL  ${name}\n${error}\n\n Test Files  1 failed | 12 passed (13)\n   Duration  ${ms}ms`,
    passed: ({ ms }) => ` RUN  v2.1.8\n\n Test Files  13 passed (13)\n   Duration  ${ms}ms`,
    code: 1,
  },
  python: {
    ext: 'py',
    check: () => 'ruff check . && mypy src',
    test: (name) => `pytest -q -k ${name}`,
    error: ({ ident, ms }) => `ValueError: ${ident} must be positive, got -${ms}`,
    failed: ({ error, file, line, name }) => `F                                     [100%]\n____ ${name} ____\n\n${file}:${line}: in ${name}\n`
      + `    assert compute(x)\nE   ${error}\n=== short test summary info ===\nFAILED ${file}::${name}\n1 failed, 87 passed`,
    passed: ({ ms }) => `........................................ [100%]\n88 passed in ${ms}ms`,
    code: 1,
  },
  go: {
    ext: 'go',
    check: () => 'go vet ./...',
    test: (name) => `go test ./... -run ${name}`,
    error: ({ file, line, ident }) => `${file}:${line}: undefined: ${ident}`,
    failed: ({ error, name, ms }) => `# example.org/svc\n${error}\n--- FAIL: ${name} (0.${ms}s)\nFAIL\texample.org/svc/internal\t0.${ms}s`,
    passed: ({ ms }) => `ok  \texample.org/svc/internal\t0.${ms}s`,
    code: 2,
  },
  java: {
    ext: 'java',
    check: () => './gradlew checkstyleMain',
    test: (name) => `./gradlew test --tests ${name}`,
    error: ({ ident }) => `java.lang.IllegalStateException: ${ident} is already closed`,
    failed: ({ error, file, line, name, ms }) => `> Task :test FAILED\n\n${name} > closes() FAILED\n    ${error}\n        at ${file}:${line}\n\n`
      + `BUILD FAILED in ${ms}ms`,
    passed: ({ ms }) => `BUILD SUCCESSFUL in ${ms}ms\n7 actionable tasks: 3 executed`,
    code: 1,
  },
  vue: {
    ext: 'vue',
    check: () => 'pnpm lint --max-warnings 0',
    test: (name) => `pnpm test:unit ${name}`,
    error: ({ ident, ms }) => `TypeError: 无法读取 ${ident} 的属性（状态码 ${ms}）`,
    failed: ({ error, name, ms }) => `> vitest run ${name}\n\n FAIL  ${name}\n${error}\n 用例：12 通过，1 失败，耗时 ${ms} 毫秒`,
    passed: ({ ms }) => `> vitest run\n\n 用例：13 通过，耗时 ${ms} 毫秒`,
    code: 1,
  },
};

const STEMS = [
  'frame', 'session', 'quota', 'index', 'segment', 'retry', 'ledger', 'cursor', 'token', 'lease', 'shard', 'batch',
  'window', 'route', 'policy', 'digest', 'merge', 'flush', 'replay', 'limit', 'probe', 'queue', 'cache', 'worker',
];

const capital = (word) => word[0].toUpperCase() + word.slice(1);

/**
 * @param chance - seeded chance.
 * @param style - `s` snake_case, `c` camelCase, `P` PascalCase, `U` UPPER_CASE.
 * @returns an identifier as code has them.
 */
export function identifier(chance, style = 's') {
  const words = Array.from({ length: chance.int(2, 3) }, () => chance.pick(STEMS));
  if (style === 'U') return words.join('_').toUpperCase();
  if (style === 'P') return words.map(capital).join('');
  if (style === 'c') return words[0] + words.slice(1).map(capital).join('');
  return words.join('_');
}

/**
 * @param chance - seeded chance.
 * @param language - a key of {@link LANGUAGES}.
 * @param count - how many lines.
 * @returns lines of code that look real.
 */
export function codeLines(chance, language, count) {
  const words = { n: (style) => identifier(chance, style), d: () => number(chance) };
  return Array.from({ length: count }, () => chance.pick(CODE[language])(words));
}

export { number };
