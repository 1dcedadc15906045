/** True in `npm run test:deep`. */
export const IS_DEEP = process.env['TEST_MODE'] === 'deep';

/** `RUNS=20 npm run test:deep` runs twenty times as many random cases. */
const FACTOR = Number(process.env['RUNS'] ?? (IS_DEEP ? 1 : 0.1));

/** Returns the number of cases of a random test: `count` in `npm run test:deep`, otherwise a tenth, but at least 10. */
export function runs(count: number): number {
  return Math.max(Math.min(count, 10), Math.ceil(count * FACTOR));
}
