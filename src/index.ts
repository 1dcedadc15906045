export { createGateway, type Gateway } from './gateway/gateway.ts';
export { type Checked, type LintOptions, lint } from './lint/lint.ts';
export { type Loaded, load, type Reading, read } from './load.ts';
export { createLog, type Log } from './log.ts';
export type { Manifest } from './manifest/manifest.generated.ts';
export type { Source, World } from './manifest/source.ts';
export type { Plan, Principal, Route, Upstream } from './plan/plan.ts';
export type { Problem, Range } from './problem/problem.ts';
