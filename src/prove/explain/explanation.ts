import type { Refusal, RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { ReportedViolation } from '../../engine/gateway/telemetry/request-record.ts';

/** Each decision about one request. `explain --json` prints it as JSON; docs/explain.md describes each member. */
export interface Explanation {
  /** The version of this format. It increases when a member is changed or removed, not when one is added. */
  readonly version: 1;
  readonly manifest: string;
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly claims: Readonly<Record<string, unknown>> | null;
  };
  /** `responded`: the gateway itself responded without a refusal, to a CORS preflight for example. */
  readonly outcome: 'forwarded' | 'refused' | 'responded';
  readonly refusal: ExplainedRefusal | null;
  /** Refusals that the route, with `validation: report`, or a rate limit with `mode: report` only reports. */
  readonly reported: readonly ReportedViolation[];
  readonly steps: readonly ExplanationStep[];
  readonly route: MatchedRoute | null;
  readonly candidates: readonly CandidateRoute[];
  /** Routes with a similar path, if no route has the path. The nearest comes first. */
  readonly near: readonly NearRoute[];
  readonly upstream: ExplainedUpstreamRequest | null;
  /** The invariants that are about the request. */
  readonly invariants: readonly ExplainedInvariant[];
  /** `keyed`: the access log has surrogates in place of identifiers in the path. `null` without a valid path. */
  readonly loggedPath: 'plain' | 'keyed' | null;
}

export interface ExplainedInvariant extends Pick<ExplanationLocation, 'file' | 'line'> {
  readonly id: string;
  readonly why: string | null;
  /** The reason why the route is an exception; `null` if it is none. */
  readonly exception: string | null;
}

export interface ExplainedRefusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly reason: string;
  readonly detail: string;
  readonly errors: Refusal['errors'];
  /** The id of the rate limit that refuses the request. */
  readonly limit?: string;
}

/** The steps of a request, in order. `limits` occurs up to three times: before the token, after the role and after the body. */
export type StepName =
  | 'message'
  | 'path'
  | 'preflight'
  | 'route'
  | 'origin'
  | 'limits'
  | 'token'
  | 'role'
  | 'claims'
  | 'parameters'
  | 'body'
  | 'forward'
  | 'response';

export interface ExplanationStep {
  readonly step: StepName;
  /** `reported`: the gateway forwards the request, because the route or a rate limit only reports the refusal. */
  readonly verdict: 'passed' | 'refused' | 'reported' | 'responded';
  readonly message: string;
  /** The keys of the manifest that decide this step. */
  readonly locations: readonly ExplanationLocation[];
}

export interface ExplanationLocation {
  /** The included file; absent for the manifest itself. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  /** A JSON Pointer (RFC 6901) into the manifest. */
  readonly pointer: string;
}

export interface NearRoute extends Pick<ExplanationLocation, 'file' | 'line'> {
  readonly id: string;
  readonly methods: readonly string[];
  readonly path: string;
}

export interface MatchedRoute extends NearRoute {
  readonly access: 'public' | 'protected';
  /** As sent, percent-encoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A route that matches the path but did not get the request. */
export interface CandidateRoute extends NearRoute {
  readonly reason: SkipReason;
  /** The id of the route that takes precedence; `null` if the reason is not another route. */
  readonly otherRoute: string | null;
}

/**
 * The reason why a route that matches the path did not get the request:
 *
 * - `less-specific`: another route is more specific
 * - `other-method`: the route does not have the method
 * - `encoded-slash`: the route does not accept an encoded slash
 * - `other-reading`: some servers would read the path as a path of another, stricter route
 */
export type SkipReason = 'less-specific' | 'other-method' | 'encoded-slash' | 'other-reading';

export interface ExplainedUpstreamRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** All endpoints of the upstream; the gateway chooses one for each request. */
  readonly endpoints: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  /** In milliseconds; `null` means no limit. */
  readonly timeoutsMs: Readonly<Record<'connect' | 'response' | 'idle' | 'eventStream' | 'total', number | null>>;
}
