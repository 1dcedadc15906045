import { REFUSALS, type RefusalCode } from '../gateway/refusal.ts';
import type { Planned } from '../load.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Outcome } from '../offline/offline.ts';
import type { Asked } from '../offline/request-bytes.ts';
import type { Claims } from '../offline/stated-tokens.ts';
import type { Route } from '../plan/plan.ts';
import { didYouMean } from '../problem/did-you-mean.ts';
import type { Path } from '../problem/finding.ts';
import type { Refused, Reported } from './explanation.ts';

/** What became known of a request on its way, put together once for all that is told of it. */
export interface Walk {
  readonly loaded: Planned;
  readonly asked: Asked;
  /** Of the caller; `undefined`: a token was stated by nobody. */
  readonly claims: Claims | undefined;
  readonly outcome: Outcome;
  readonly refusal: Refused | undefined;
  readonly reported: readonly Reported[];
  /** The gateway answered by itself, and refused nothing. */
  readonly isAnswered: boolean;
  /** The target was read as a path. */
  readonly hasPath: boolean;
  readonly route: Route | undefined;
  readonly entry: RouteEntry | undefined;
  readonly routePath: Path;
  /** The methods that the routes of the path take. */
  readonly allowed: readonly string[];
  /** A path that routes know, near to the one that none knows. */
  readonly nearest: string | undefined;
  readonly upstreamUrl: string | undefined;
}

export function walkOf(
  loaded: Planned,
  asked: Asked,
  claims: Claims | undefined,
  outcome: Outcome,
  upstreamUrl: string | undefined,
): Walk {
  const { plan, manifest } = loaded;
  const { decision, received } = outcome;
  const index = plan.routes.findIndex(({ id }) => id === decision.route);
  const refusal = refusalOf(outcome);
  const path = decision.path ?? '';
  return {
    loaded,
    asked,
    claims,
    outcome,
    refusal,
    reported: (decision.reported ?? []) as readonly Reported[],
    isAnswered: refusal === undefined && received === undefined && decision.route === undefined,
    hasPath: decision.path !== undefined || refusal?.code === 'path_ambiguous',
    route: plan.routes[index],
    entry: manifest.routes[index],
    routePath: ['routes', index],
    allowed: decision.path === undefined ? [] : plan.router.allowed(path),
    nearest: didYouMean(
      path,
      plan.routes.map(({ path }) => path),
    ),
    upstreamUrl,
  };
}

/** What the gateway refused, from its own words: the line in the log, and the answer. */
function refusalOf({ decision, answer }: Outcome): Refused | undefined {
  if (decision.refusal === undefined) return undefined;
  const code = decision.refusal as RefusalCode;
  // The answer to HEAD has no body, and a connection that was cut no answer.
  const { detail, errors = [] } = JSON.parse(answer?.body.toString() || '{}');
  const { status, detail: usual } = REFUSALS[code];
  const reason = decision.reason ?? code;
  return { status: answer?.status ?? status, code, reason, detail: detail ?? usual, errors };
}
