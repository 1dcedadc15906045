import { REFUSALS, type RefusalCode } from '../gateway/response/refusal.ts';
import type { PlannedManifest } from '../load.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import type { OfflineRequest } from '../offline/request-bytes.ts';
import type { CallerClaims } from '../offline/stub-verifier.ts';
import type { Route } from '../plan/route-definition.ts';
import { didYouMean } from '../problem/did-you-mean.ts';
import type { Path } from '../problem/finding.ts';
import type { ExplainedRefusal, ReportedViolation } from './explanation.ts';

/** What became known of a request on its way, put together once for all that is told of it. */
export interface ExplainContext {
  readonly planned: PlannedManifest;
  readonly request: OfflineRequest;
  /** Of the caller; `undefined`: a token was stated by nobody. */
  readonly claims: CallerClaims | undefined;
  readonly outcome: OfflineOutcome;
  readonly refusal: ExplainedRefusal | undefined;
  readonly reported: readonly ReportedViolation[];
  /** The gateway answered by itself, and refused nothing. */
  readonly isLocalResponse: boolean;
  /** The target was read as a path. */
  readonly hasPath: boolean;
  readonly route: Route | undefined;
  readonly entry: RouteEntry | undefined;
  readonly routePath: Path;
  /** The methods that the routes of the path take. */
  readonly allowedMethods: readonly string[];
  /** A path that routes know, near to the one that none knows. */
  readonly nearestPath: string | undefined;
  readonly upstreamUrl: string | undefined;
}

export function createExplainContext(
  planned: PlannedManifest,
  request: OfflineRequest,
  claims: CallerClaims | undefined,
  outcome: OfflineOutcome,
  upstreamUrl: string | undefined,
): ExplainContext {
  const { plan, manifest } = planned;
  const { logEntry, upstreamRequest } = outcome;
  const index = plan.routes.findIndex(({ id }) => id === logEntry.route);
  const refusal = refusalOf(outcome);
  const path = logEntry.path ?? '';
  return {
    planned,
    request,
    claims,
    outcome,
    refusal,
    reported: (logEntry.reported ?? []) as readonly ReportedViolation[],
    isLocalResponse: refusal === undefined && upstreamRequest === undefined && logEntry.route === undefined,
    hasPath: logEntry.path !== undefined || refusal?.code === 'path_ambiguous',
    route: plan.routes[index],
    entry: manifest.routes[index],
    routePath: ['routes', index],
    allowedMethods: logEntry.path === undefined ? [] : plan.router.allowedMethods(path),
    nearestPath: didYouMean(
      path,
      plan.routes.map(({ path }) => path),
    ),
    upstreamUrl,
  };
}

/** What the gateway refused, from its own words: the line in the log, and the answer. */
function refusalOf({ logEntry, response }: OfflineOutcome): ExplainedRefusal | undefined {
  if (logEntry.refusal === undefined) return undefined;
  const code = logEntry.refusal as RefusalCode;
  // The answer to HEAD has no body, and a connection that was cut no answer.
  const { detail, errors = [] } = JSON.parse(response?.body.toString() || '{}');
  const { status, detail: usual } = REFUSALS[code];
  const reason = logEntry.reason ?? code;
  return { status: response?.status ?? status, code, reason, detail: detail ?? usual, errors };
}
