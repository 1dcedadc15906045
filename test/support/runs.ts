/** True in `npm run test:deep`. */
export const IS_DEEP = process.env['TEST_MODE'] === 'deep';

/** Random tests use the same seed in every run, so failures are reproducible. `SEED=7 npm test` uses another one. */
export const SEED = Number(process.env['SEED'] ?? 1);

/** `RUNS=20 npm run test:deep` runs twenty times as many random cases. */
export const RUNS = Number(process.env['RUNS'] ?? (IS_DEEP ? 1 : 0.1));

/** `MINUTES=5` runs each property for five minutes of processor time. */
export const MINUTES = Number(process.env['MINUTES'] ?? 0);

/** Returns the number of cases of a random test: `count` in `npm run test:deep`, otherwise a tenth, but at least 10. */
export function cases(count: number): number {
  return Math.max(Math.min(count, 10), Math.ceil(count * RUNS));
}

/** Returns the number of cases of a property, which `MINUTES` may end: see `seed.ts`. */
export function runs(count: number): number {
  return MINUTES > 0 ? 1_000_000_000 : cases(count);
}
