import type { RefusalCode } from '../gateway/response/refusal.ts';
import type { Violation } from '../plan/violation.ts';

/** A request's whole way; as JSON this is what `explain --json` prints. docs/explain.md says what each member is. */
export interface Explanation {
  /** Of this shape: members are added without another version, never changed or removed. */
  readonly version: 1;
  readonly manifest: string;
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly claims: Readonly<Record<string, unknown>> | null;
  };
  readonly outcome: 'forwarded' | 'refused' | 'answered';
  readonly refusal: ExplainedRefusal | null;
  /** What would have been refused, where the route only reports. */
  readonly reported: readonly ReportedViolation[];
  readonly steps: readonly ExplanationStep[];
  readonly route: MatchedRoute | null;
  readonly candidates: readonly CandidateRoute[];
  readonly upstream: ExplainedUpstreamRequest | null;
}

export interface ExplainedRefusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly reason: string;
  readonly detail: string;
  readonly errors: readonly Violation[];
}

export interface ReportedViolation {
  readonly code: RefusalCode;
  /** Where the faults are: JSON Pointers (RFC 6901) into the body, or to parameters. */
  readonly pointers: readonly string[];
}

/** The steps of a request's walk, in their order. */
export type StepName =
  | 'message'
  | 'path'
  | 'preflight'
  | 'route'
  | 'origin'
  | 'token'
  | 'role'
  | 'parameters'
  | 'body'
  | 'forward'
  | 'answer';

export interface ExplanationStep {
  readonly step: StepName;
  /** `reported`: what does not fit was let through. */
  readonly verdict: 'passed' | 'refused' | 'reported' | 'answered';
  readonly because: string;
  /** What in the manifest says so. */
  readonly lines: readonly ExplanationLocation[];
}

export interface ExplanationLocation {
  /** The included file that it is in; left out: the manifest itself. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  /** A JSON Pointer (RFC 6901) into the manifest. */
  readonly pointer: string;
}

export interface MatchedRoute {
  readonly id: string;
  readonly methods: readonly string[];
  readonly path: string;
  readonly access: 'public' | 'protected';
  /** As sent, still encoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** As of a place. */
  readonly file?: string;
  readonly line: number;
}

/** A route that could have had the request. */
export interface CandidateRoute {
  readonly id: string;
  readonly methods: readonly string[];
  readonly path: string;
  /** As of a place. */
  readonly file?: string;
  readonly line: number;
  readonly lost: SkipReason;
  /** The route on account of which it lost; `null` where there is none. */
  readonly to: string | null;
}

/**
 * Why a route that knows the path did not get the request: another one is more specific; it has not the method; it
 * keeps no encoded slash; or some servers would read the path as one of another route, which asks for more.
 */
export type SkipReason = 'less-specific' | 'other-method' | 'encoded-slash' | 'other-reading';

export interface ExplainedUpstreamRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** All targets of the upstream, of which one is chosen. */
  readonly targets: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  /** In milliseconds; `null`: without end. */
  readonly timeoutsMs: Readonly<Record<'connect' | 'response' | 'idle' | 'total', number | null>>;
}
