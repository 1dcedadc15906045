import type { Route } from './engine/plan/route-definition.ts';

export { type LintInput, type LintOptions, lint } from './check/lint/lint.ts';
export { createGateway, type Gateway } from './engine/gateway/gateway.ts';
export { type LoadResult, load, type PlannedManifest, type RejectedManifest } from './engine/load.ts';
export type { Log } from './engine/log/log.ts';
export type { Manifest } from './engine/manifest/manifest.generated.ts';
export {
  createFileEnvironment,
  createMemoryEnvironment,
  type Environment,
  type Source,
} from './engine/manifest/source.ts';
export type { Plan } from './engine/plan/plan.ts';
export type { Route } from './engine/plan/route-definition.ts';
export type { Range } from './engine/problem/finding.ts';
export type { Problem } from './engine/problem/problem.ts';
export type { Principal } from './engine/tokens/verifier.ts';
export { createProcessLog, type ProcessLog } from './process/log/process-log.ts';

type Upstream = Route['upstream'];

export type { Upstream };
