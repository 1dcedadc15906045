export { createGateway, type Gateway } from './gateway/gateway.ts';
export { type LintInput as Checked, type LintOptions, lint } from './lint/lint.ts';
export {
  type LoadResult as Loaded,
  type LoadResultWithFindings as Reading,
  load,
  loadWithFindings as read,
} from './load.ts';
export { createProcessLog as createLog, type Log } from './log/log.ts';
export type { Manifest } from './manifest/manifest.generated.ts';
export type { Environment as World, Source } from './manifest/source.ts';
export type { Plan, Principal, Route, Upstream } from './plan/plan.ts';
export type { Problem, Range } from './problem/problem.ts';
