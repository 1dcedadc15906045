export { createGateway, type Gateway } from './gateway/gateway.ts';
export { type LintInput, type LintOptions, lint } from './lint/lint.ts';
export {
  type LoadResult,
  type LoadResultWithFindings,
  load,
  loadWithFindings,
} from './load.ts';
export { createProcessLog, type Log } from './log/log.ts';
export type { Manifest } from './manifest/manifest.generated.ts';
export type { Environment, Source } from './manifest/source.ts';
export type { Plan } from './plan/plan.ts';
export type { Route } from './plan/route-definition.ts';
export type { Upstream } from './plan/settings/upstream-definition.ts';
export type { Principal } from './plan/tokens/verification-result.ts';
export type { Problem, Range } from './problem/problem.ts';
