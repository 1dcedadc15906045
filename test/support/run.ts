/** Runs before the first test and after the last one. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { SEED } from './runs.ts';

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
  // Processes and threads use the variable from their start.
  process.env['NODE_COMPILE_CACHE'] = join(folder, COMPILE_CACHE);
  const more =
    config.mode === 'deep' ? '' : ' "npm run test:deep" runs all tests, with ten times as many random cases.';
  console.log(`Random tests use seed ${SEED}. SEED=7 npm test uses another one.${more}`);
  return () => {
    const remaining = readdirSync(folder).filter((name) => name !== COMPILE_CACHE);
    rmSync(folder, { recursive: true, force: true });
    if (remaining.length > 0) throw new Error(`tests left temporary files: ${remaining.join(', ')}`);
  };
}
