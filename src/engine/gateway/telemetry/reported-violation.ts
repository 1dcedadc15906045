import { unescapePointerStep } from '../../json-pointer.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Refusal, RefusalCode } from '../response/refusal.ts';

/** A refusal that a route with `validation: report`, or a rate limit with `mode: report`, only reports. */
export interface ReportedViolation {
  readonly code: RefusalCode;
  /**
   * The locations of the violations: JSON Pointers (RFC 6901) into the body, or to parameters. Each name that is not in the
   * manifest is `*`.
   */
  readonly pointers: readonly string[];
  /** The id of the rate limit. */
  readonly limit?: string;
}

/** Matches a list index. A longer number may be a name that the client chose. */
const INDEX = /^\d{1,6}$/;

/** Replaces each name that is not in the manifest with `*`, because a client may have chosen it. */
export function reportedViolationOf({ code, pointers, limit }: Refusal, route: Route | undefined): ReportedViolation {
  const isSafe = (step: string) =>
    step === '' || INDEX.test(step) || route?.isManifestName(unescapePointerStep(step)) === true;
  const redact = (pointer: string) =>
    pointer
      .split('/')
      .map((step) => (isSafe(step) ? step : '*'))
      .join('/');
  return { code, pointers: pointers.map(redact), ...(limit !== undefined && { limit }) };
}
