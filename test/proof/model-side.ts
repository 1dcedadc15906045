import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { createOfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { callerOfRole } from '../../src/prove/offline/role-claims.ts';
import type { SendOptions, SideOutcome } from '../../src/prove/proof/offline-side.ts';
import { expectedOf, pairsOf } from '../model/compared-decisions.ts';

/** Returns the decision of a manifest about a request: that of the model, or of a running gateway. */
export type Decider = (request: DiffRequest, sending?: SendOptions) => DecidedOutcome | Promise<DecidedOutcome>;
export type DecidedOutcome = Pick<SideOutcome, 'isServed' | 'target' | 'seen'>;

/** Returns the decision of the model, which has no rate limits. */
export function modelDecision(
  { manifest }: DiffSide,
  { method, url, role, issuer, token, headers = [], body, bodyBytes = 0 }: DiffRequest,
): ReturnType<typeof expectedOf> {
  const request = createOfflineRequest(method, url, headers, undefined);
  const pairs = pairsOf(request.headers);
  const hasHost = pairs.some(([name]) => name.toLowerCase() === 'host');
  return expectedOf(manifest, {
    method,
    target: request.target,
    headers: hasHost ? pairs : [['Host', 'localhost'], ...pairs],
    caller:
      role === undefined || manifest.auth === undefined
        ? 'none'
        : { ...callerOfRole(manifest, role, issuer), ...(token && { claims: token }) },
    body: bodyBytes === 0 ? body : (body ?? '').padEnd(bodyBytes),
  });
}

/** Returns the decisions of the model. */
export function createModelDecider(side: DiffSide): Decider {
  return (request) => outcomeOf(side, modelDecision(side, request));
}

/** Returns a decision of the model in the form of a proof: a request to the same servers has the same target. */
export function outcomeOf({ manifest }: DiffSide, decision: ReturnType<typeof expectedOf>): DecidedOutcome {
  const { kind, route, target, upstream = '', headers = [], code, ...others } = decision;
  const { url, urls = [url] } = manifest.upstreams[upstream] ?? {};
  const servers = kind === 'forwarded' ? urls.toSorted() : undefined;
  return {
    isServed: kind === 'forwarded' || (kind === 'responded' && route !== undefined),
    target: kind === 'forwarded' ? JSON.stringify([servers, target, headers.filter(([name]) => name === 'Host')]) : '',
    seen: { ...others, kind, servers, target, headers, code },
  };
}
