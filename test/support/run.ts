/** Runs before the first test and after the last one. */
import { chmodSync, globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

function leftOut(): string {
  const folders = new Map<string, number>();
  for (const file of globSync('test/**/*.deep.test.ts')) {
    const folder = file.split('/').slice(1, -1)[0] ?? 'test';
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const counts = [...folders].sort().map(([folder, count]) => `${folder} ${count}`);
  const files = [...folders.values()].reduce((sum, count) => sum + count, 0);
  return `Left out: ${files} files of deep tests (${counts.join(', ')}) and nine tenths of the random cases.
"npm run test:deep" runs everything.`;
}
