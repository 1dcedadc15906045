import { isWithin } from '../../engine/json-pointer.ts';
import type { Jwt } from '../../engine/manifest/manifest.generated.ts';
import { durationMs } from '../../engine/manifest/units.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { acceptedEntries, type TokenEntry, unsignedTokenError } from '../../engine/tokens/token-entries.ts';
import { pairMethods } from '../diff/comparisons/token-comparisons.ts';
import type { DiffContext, DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { matchedRoutes } from '../diff/matched-routes.ts';
import type { DiffMethod, DiffRoute, DiffSide } from '../diff/side.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { callerOfRole, methodOf } from '../offline/role-claims.ts';
import type { StubToken } from '../offline/stub-verifier.ts';

type SampleToken = NonNullable<DiffRequest['token']>;

/** The pairs of routes that are tried. */
const MAX_PAIRS = 20;

/** Returns requests whose tokens are valid for a method of one manifest. @param path that of a value of the method */
export function tokenRequests(path: Path, sides: DiffContext): readonly DiffRequest[] {
  return pairMethods(sides).flatMap(({ old, next }) => {
    const isAbout = [old, next].some((method) => [method.path, method.rolePath].some((start) => isWithin(path, start)));
    if (!isAbout || old.name !== next.name) return [];
    const pairs = matchedRoutes(sides).filter(({ from, to }) => isChecked(old, from) && isChecked(next, to));
    const requests = pairs.take(MAX_PAIRS).map((pair) => forwardedWitness(pair)?.request);
    const request = requests.find((one) => one?.role !== undefined);
    const { role } = request ?? {};
    if (request === undefined || role === undefined) return [];
    const tokens = [...tokensOf(next, old, path, role, sides.next), ...tokensOf(old, next, path, role, sides.old)];
    return tokens.map((token) => ({ ...request, ...(next.issuer !== undefined && { issuer: next.issuer }), token }));
  });
}

function isChecked(method: DiffMethod, { route, entry, side }: DiffRoute): boolean {
  return route.access === 'protected' && acceptedEntries(side.methods, entry.issuers).includes(method);
}

/** Returns tokens that are valid for a method, and may be invalid for another one because of the value at a path. */
function tokensOf(
  method: DiffMethod,
  other: DiffMethod,
  path: Path,
  role: string,
  { manifest }: DiffSide,
): SampleToken[] {
  const entry = { algorithms: [undefined], type: undefined, ...method.entry } as Partial<Jwt>;
  const { algorithms = [], type, issuer = 'other', audience = 'other', requiredClaims = [] } = entry;
  const required = Object.fromEntries(requiredClaims.map((name) => [name, 1]));
  const [aud] = [audience].flat();
  // In a text of words, the role is one of them.
  const text = typeof method.role === 'object' && method.role.format === 'words' ? `${role} other` : role;
  const { claims } = callerOfRole(manifest, text, method.name);
  const token = { alg: algorithms[0], typ: type, ...required, iss: issuer, aud, ...claims };
  const key = path.findLast((step) => typeof step === 'string');
  if (key === 'audience') return [audience].flat().map((aud) => ({ ...token, aud }));
  if (key === 'algorithms') return algorithms.map((alg) => ({ ...token, alg }));
  if (key === 'clockTolerance') {
    const tolerances = [method, other].map((one) => durationMs(one.entry.clockTolerance));
    return [{ ...token, exp: -tolerances.reduce((sum, ms) => sum + ms) / 2000 }];
  }
  if (key !== 'requiredClaims') return [token];
  const missing = other.entry.requiredClaims.filter((name) => !requiredClaims.includes(name));
  return missing.map((name) => ({ ...token, [name]: null }));
}

/** Returns a token of the caller of a request, which is valid for the method of the new manifest. */
export function validToken({ to: { side } }: MatchedRoutePair, { role, issuer }: DiffRequest): SampleToken | undefined {
  const own = methodOf(side.manifest.auth, issuer, role);
  const method = side.methods.find(({ entry }) => entry === own?.entry);
  return method && tokensOf(method, method, [], role ?? '', side)[0];
}

/** Returns the result of a token method for a token, whose signature is valid. */
export function resultOf(method: TokenEntry, { alg, typ, exp = 3600, ...own }: SampleToken): StubToken {
  const claims = { ...own, exp: typeof exp === 'number' ? Date.now() / 1000 + exp : exp };
  const code = unsignedTokenError(method, { algorithm: String(alg), type: typ, claims });
  return code === undefined ? { claims, issuer: method.issuer } : { code };
}
