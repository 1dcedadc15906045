import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { TestedRoute } from '../../prove/mutation/mutant.ts';

/** The result of logged requests: a refusal, or a response of one class. */
export type ObservedResult =
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly reason: string;
      readonly limit: string | undefined;
    }
  /** The codes of the violations that were only reported, in order. */
  | { readonly kind: 'forwarded'; readonly statusClass: number; readonly reported: readonly string[] }
  /** The gateway responded to a preflight, or to `OPTIONS *`. */
  | { readonly kind: 'preflight' }
  | { readonly kind: 'server-options' };

/** Logged requests that one test case can stand for: they differ at most in their paths, bodies and callers of the same role. */
export interface Observation {
  /** The matched route. For `method_not_allowed` and preflights it is a route with such a path. */
  readonly tested: TestedRoute | undefined;
  readonly isMatched: boolean;
  readonly method: string;
  /** A role of the manifest, or one that it does not allow; `undefined` if the result does not depend on a role. */
  readonly role: string | undefined;
  /** True if the log has the role of at least one of the requests. */
  hasLoggedRole: boolean;
  readonly isHandshake: boolean;
  readonly result: ObservedResult;
  /** The sum of the weights. */
  requests: number;
  /** The number of requests by status. */
  readonly statuses: Map<number, number>;
  /** The path of the first request. */
  readonly path: string | undefined;
}
