import type { Jwt } from '../../manifest/manifest.generated.ts';
import type { Refused, TokenFault } from '../plan.ts';
import { type ClaimRules, claimRules, claimsFault } from './claims.ts';
import type { TokensContext } from './context.ts';
import { compileKeys } from './jwt-keys.ts';
import type { KeySet } from './key-set.ts';
import type { KeySource } from './key-source.ts';
import { isSignedBy } from './signature.ts';
import { readJwt, type UnverifiedJwt } from './token-text.ts';
import type { Good, Judge, Way } from './verifier.ts';

interface JwtRules extends ClaimRules {
  readonly algorithms: readonly string[];
  /** What `typ` must be, as a media type; `undefined`: anything. */
  readonly type: string | undefined;
}

/** Tokens are signed JWTs (RFC 7519, RFC 8725): algorithms pinned, `iss`, `aud` and `exp` required. */
export function compileJwt(entry: Jwt, context: TokensContext): Way | undefined {
  const source = compileKeys(entry, context);
  if (source === undefined) return undefined;
  const usual = claimRules(entry);
  const rules = {
    ...usual,
    required: ['exp', ...usual.required],
    algorithms: entry.algorithms,
    type: entry.type === undefined ? undefined : mediaType(entry.type),
  };
  const judge: Judge = {
    judge: (token, { client }) => judgeJwt(token, rules, source, client),
    basis: () => source.known,
    keys: source,
  };
  return { judge, outside: source.outside, staleMs: 0 };
}

async function judgeJwt(
  token: string,
  rules: JwtRules,
  source: KeySource,
  client: string | undefined,
): Promise<Good | Refused> {
  const cameAt = performance.now();
  const jwt = readJwt(token);
  if (jwt === undefined) return { fault: 'token_malformed' };
  // What no key could mend needs none: an old token drives no question for keys.
  const unsound = headerFault(jwt, rules) ?? claimsFault(jwt.claims, rules);
  if (unsound !== undefined) return { fault: unsound };
  let keys = await source.current();
  while (keys !== undefined) {
    const fault = await signatureFault(token, jwt, keys);
    if (fault === undefined) return { claims: jwt.claims, bytes: token.length, basis: keys };
    const wanted = { name: jwt.keyName, cameAt, isUnknown: fault === 'key_unknown', client };
    const newer = await source.newer(keys, wanted);
    if (newer === 'none' || (newer === 'unavailable' && fault === 'signature_wrong')) return { fault };
    keys = newer === 'unavailable' ? undefined : newer;
  }
  return { fault: 'keys_unavailable', ...(source.cause === undefined ? {} : { cause: source.cause }) };
}

function headerFault({ algorithm, type }: UnverifiedJwt, rules: JwtRules): TokenFault | undefined {
  if (!rules.algorithms.includes(algorithm)) return 'algorithm_not_allowed';
  if (rules.type === undefined) return undefined;
  return typeof type === 'string' && mediaType(type) === rules.type ? undefined : 'type_wrong';
}

async function signatureFault(token: string, jwt: UnverifiedJwt, keys: KeySet): Promise<TokenFault | undefined> {
  const candidates = keys.find(jwt.keyName, jwt.algorithm);
  for (const key of candidates) if (await isSignedBy(key, token, jwt.algorithm)) return undefined;
  return candidates.length === 0 ? 'key_unknown' : 'signature_wrong';
}

/** RFC 7515 section 4.1.9: `application/` may be left out, and letter case does not matter. */
function mediaType(type: string): string {
  const lower = type.toLowerCase();
  return lower.includes('/') ? lower : `application/${lower}`;
}
