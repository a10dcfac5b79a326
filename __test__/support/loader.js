/** A composition through the real Loader, from a `cordis.yml` on disk as a person writes it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Context } from '@deepseek-ai/cordis';
import { Include } from '@deepseek-ai/cordis-plugin-include';
import { Loader } from '@deepseek-ai/cordis-plugin-loader';
import { stringify } from 'yaml';

/**
 * @param id - the row's id.
 * @param specifier - the module, as this repository resolves it.
 * @param config - the row's configuration, if any.
 * @returns a row that loads it from a `cordis.yml` anywhere.
 */
export function row(id, specifier, config) {
  return { id, name: import.meta.resolve(specifier), ...(config === undefined ? {} : { config }) };
}

/**
 * Boots a composition and disposes it after the test.
 *
 * @param t - the test.
 * @param rows - the rows of the `cordis.yml`.
 * @param files - further modules beside it, text by name.
 * @returns a promise of the root context, everything loaded.
 */
export async function boot(t, rows, files = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tool-rewind-composition-'));
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  await writeFile(join(folder, 'cordis.yml'), stringify(rows));
  const ctx = new Context();
  t.after(async () => {
    await ctx.fiber.dispose();
    await rm(folder, { recursive: true, force: true });
  });
  await ctx.plugin(Loader, { baseUrl: pathToFileURL(`${folder}/`).href });
  ctx.loader.builtins.include = Include;
  await ctx.loader.create({ id: 'include', name: 'cordis:include', config: { path: './cordis.yml' } });
  await ctx.loader.await();
  // What waits for the loaded composition starts one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  return ctx;
}
