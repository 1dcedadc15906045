import type { ReportedViolation } from '../../engine/gateway/telemetry/request-record.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import type { OfflineRequest } from '../offline/request-bytes.ts';
import type { CallerClaims } from '../offline/stub-verifier.ts';
import type { ExplainedRefusal } from './explanation.ts';

/** Everything that explains the steps of a request: the manifest, the request and its outcome. */
export interface ExplainContext {
  readonly planned: PlannedManifest;
  readonly request: OfflineRequest;
  /** The claims of the caller; `undefined` if no caller was given. */
  readonly claims: CallerClaims | undefined;
  readonly outcome: OfflineOutcome;
  readonly refusal: ExplainedRefusal | undefined;
  readonly reported: readonly ReportedViolation[];
  /** True if the gateway responded itself, without a refusal: to a CORS preflight for example. */
  readonly isLocalResponse: boolean;
  /** True if the request target was parsed as a path. */
  readonly hasPath: boolean;
  readonly route: Route | undefined;
  readonly entry: RouteEntry | undefined;
  readonly routePath: Path;
  /** The methods of the routes that match the path. */
  readonly allowedMethods: readonly string[];
  /** The routes whose paths resemble the requested one, if it matches none. The nearest comes first. */
  readonly nearRoutes: readonly Route[];
  readonly upstreamUrl: string | undefined;
}

/** The message of a step and the keys of the manifest that decide it. */
export interface StepExplanation {
  readonly message: string;
  readonly paths: readonly Path[];
}
