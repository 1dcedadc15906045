import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { nestValue } from '../../engine/json-pointer.ts';
import { sizeBytes } from '../../engine/manifest/units.ts';
import type { MutationContext, TestedRoute } from '../../prove/mutation/context.ts';
import { withValue } from '../../prove/mutation/edits.ts';
import { MAX_TIMES, overLimit, withoutKey } from '../../prove/mutation/limited-requests.ts';
import type { Probe } from '../../prove/mutation/mutant.ts';
import { invalidRequests, OTHER_TYPES, oddBodies } from '../../prove/mutation/mutators/body-mutators.ts';
import {
  changedMultipartBodies,
  loginResponses,
  MULTIPART_TYPE,
  withBodyOf,
  withHeader,
  withJsonBody,
  withoutBody,
  withoutToken,
  withTextBody,
} from '../../prove/mutation/probes.ts';
import type { RecordContext } from './base-probes.ts';

/** A request that the gateway refused. */
export interface RefusedObservation {
  readonly tested: TestedRoute;
  readonly role: string | undefined;
  readonly issuer: string | undefined;
  readonly reason: string;
  readonly limit: string | undefined;
}

/** Yields requests that may cause a refusal, made from one that the route forwards. */
type ProbeSource = (base: Probe, observed: RefusedObservation, record: RecordContext) => Iterable<Probe>;

/** A test case cannot cause the refusals that are not in this table: they depend on the upstream, on time or on load. */
const SOURCES: Partial<Record<RefusalCode, ProbeSource>> = {
  token_missing: (base) => [withoutToken(base), withHeader(withoutToken(base), 'Authorization', 'Basic eDp4')],
  token_invalid: (base, { reason }, { tokens }) => withToken(base, tokens.ofError(reason)),
  keys_unavailable: (base, { tested, role }, { tokens }) => {
    const token = tokens.ofError('keys_unavailable');
    const [callers, logins] = [withToken(base, token), loginResponses(base, tested, token)];
    return role === undefined ? [...callers, ...logins] : [...logins, ...callers];
  },
  role_not_allowed: (base, { tested, role, issuer }, { tokens }) => [
    ...(tested.route.access === 'protected' ? [base] : []),
    ...(role === undefined ? [] : loginResponses(base, tested, tokens.ofRole(role, issuer))),
  ],
  login_response_refused: (base, { tested, reason }, { tokens }) => [
    ...loginResponses(base, tested, tokens.ofError(reason.replace(/^login_/, ''))),
    ...brokenLogins(base, tested),
  ],
  origin_not_allowed: (base, _observed, { context }) => [withHeader(base, 'Origin', context.otherOrigin)],
  parameter_invalid: (base, { tested }, { context }) => invalidRequests(context, base, tested),
  media_type_unsupported: (base) => [
    ...OTHER_TYPES.map((type) => withHeader(base, 'Content-Type', type)),
    withTextBody(base, 'text/plain', 'x'),
    withHeader(base, 'Content-Encoding', 'gzip'),
    withoutBody(base),
  ],
  body_invalid: (base, { tested }, { context }) => invalidBodies(base, tested, context),
  body_too_large: (base, { tested: { entry } }) =>
    entry.body === undefined ? [] : [withBodyOf(base, sizeBytes(entry.body.maxBytes) + 1)],
  rate_limit_key_missing: (base, { tested, limit }, { context }) =>
    limitsOf(tested, limit, context).flatMap(({ entry }) => [...withoutKey(base, entry), base]),
  rate_limit_exceeded: (base, { tested, limit }, { context }) =>
    limitsOf(tested, limit, context).flatMap((each) =>
      each.limit.burst < MAX_TIMES ? overLimit(base, each, context) : [],
    ),
};

/** Yields requests that may cause a refusal; none if a test case cannot cause it. */
export function refusedProbes(code: RefusalCode, base: Probe, observed: RefusedObservation, record: RecordContext) {
  return SOURCES[code]?.(base, observed, record) ?? [];
}

/** True if a rule of a route causes the refusal, so that a test case can cause it too. */
export function isRecordable(code: RefusalCode): boolean {
  return Object.hasOwn(SOURCES, code);
}

function withToken(base: Probe, token: string | undefined): Probe[] {
  return token === undefined ? [] : [withHeader(withoutToken(base), 'Authorization', `Bearer ${token}`)];
}

/** Returns the login request with responses that cannot be verified. */
function brokenLogins(base: Probe, { entry }: TestedRoute): Probe[] {
  if (entry.login === undefined) return [];
  const [pointer = '/access_token'] = [entry.login.token ?? []].flat();
  const body = nestValue(pointer, 7) as object;
  const respond = (response: NonNullable<Probe['response']>) => ({ ...base, response });
  return [
    respond({ status: 200, headers: { 'Content-Type': 'application/json' }, body: 'x' }),
    respond({ status: 200, headers: {}, body: 'x' }),
    respond({ status: 206, headers: {}, body }),
    respond({ status: 200, headers: {}, body }),
    respond({ status: 200, headers: { 'Content-Encoding': 'x' }, body }),
    respond({ status: 200, headers: { 'Content-Encoding': 'gzip' }, body }),
    respond({ status: 200, headers: { 'Content-Type': 'application/json; charset=utf-7' }, body }),
    respond({ status: 200, headers: { 'Content-Encoding': ['gzip', 'gzip'] }, body }),
  ];
}

function* invalidBodies(base: Probe, { path, entry }: TestedRoute, context: MutationContext): Generator<Probe> {
  const { body } = entry;
  if (body === undefined) return;
  const other = body.csv === undefined ? 'application/json' : 'text/csv';
  const [type = other] = (body.types ?? []).map((listed) => listed.replace('/*', '/x'));
  const typed = (probe: Probe) => withHeader(probe, 'Content-Type', type);
  yield* oddBodies(base);
  if (body.schema !== undefined) {
    const at = [...path, 'body', 'schema'];
    for (const value of context.newValues(at, withValue(context.manifest, at, {})))
      yield typed(withJsonBody(base, value));
  }
  if (body.multipart !== undefined)
    for (const text of changedMultipartBodies(body.multipart)) yield withTextBody(base, MULTIPART_TYPE, text);
  yield* oddBodies(base).map(typed);
  yield typed(withTextBody(base, type, '{'));
  yield withTextBody(base, type, '');
  yield withoutBody(base);
}

/** Returns the rate limits of a route, or only the one that refused the request. */
function limitsOf({ entry }: TestedRoute, id: string | undefined, { plan, manifest }: MutationContext) {
  return (entry.rateLimits ?? []).flatMap((name) => {
    const limit = plan.rateLimits.find((candidate) => candidate.id === name);
    const limitEntry = manifest.rateLimits[name];
    const isOther = id !== undefined && id !== name;
    return isOther || limit === undefined || limitEntry === undefined ? [] : [{ limit, entry: limitEntry }];
  });
}
