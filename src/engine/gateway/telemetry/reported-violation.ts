import { unescapePointerStep } from '../../json-pointer.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Refusal } from '../response/refusal.ts';
import type { ReportedViolation } from './request-record.ts';

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
