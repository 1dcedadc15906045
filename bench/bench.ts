/**
 * Runs one of the comparisons with other proxies: of their throughput by default.
 *
 *     npm run bench
 *     npm run bench -- latency
 *     npm run bench -- workers
 */
const COMPARISONS = { throughput: './throughput.ts', latency: './latency.ts', workers: './workers.ts' } as const;

const [, , name = ''] = process.argv;
await import(Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name as keyof typeof COMPARISONS] : COMPARISONS.throughput);
