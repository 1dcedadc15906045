/** Runs before the first test and after the last one. */
import { chmodSync, globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Node stores compiled code here. */
const COMPILE_CACHE = 'node-compile-cache';

/**
 * Gives the run a temporary folder of its own, prints the seed, and returns the function that ends the run. That function
 * fails if a test left a file in the folder.
 */
export default function setup({ config }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
  // Some tests run programs in it as another user.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
  process.env['XDG_CACHE_HOME'] = join(folder, COMPILE_CACHE);
  console.log(`Random tests use seed ${process.env['SEED'] ?? 1}. SEED=7 npm test uses another one.`);
  return () => {
    const remaining = readdirSync(folder).filter((name) => name !== COMPILE_CACHE);
    rmSync(folder, { recursive: true, force: true });
    if (config.mode !== 'deep') console.log(`\n${leftOut()}`);
    if (remaining.length > 0) throw new Error(`tests left temporary files: ${remaining.join(', ')}`);
  };
}

/** Names the deep tests by folder, so that a reader sees which feature the run did not test completely. */
function leftOut(): string {
  const folders = new Map<string, string[]>();
  for (const file of globSync('test/**/*.deep.test.ts').sort()) {
    const folder = dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), basename(file, '.deep.test.ts')]);
  }
  const files = [...folders.values()].flat().length;
  const lines = [...folders].map(([folder, names]) => `  ${folder}: ${names.join(', ')}`);
  return `Left out: nine tenths of the random cases, and ${files} files of deep tests:
${lines.join('\n')}
"npm run test:deep" runs everything, and "npx vitest run --mode deep test/dns" one folder.`;
}
