import { hash } from 'node:crypto';
import type { TokenErrorCode } from '../gateway/response/refusal.ts';
import { tokenHash } from './caching-verifier.ts';
import type { TokenEntry } from './token-entries.ts';
import { unverifiedIssuer } from './token-syntax.ts';
import type {
  Issuers,
  MethodVerifier,
  Principal,
  VerificationClient,
  VerificationResult,
  Verifier,
} from './verifier.ts';

/**
 * Gives each token to one of several methods: that of the issuer that it names, or the one for all other tokens. That method verifies
 * the issuer itself, with its own keys and its own cache, and no other method ever sees the token.
 */
export class SelectingVerifier implements Verifier {
  readonly key: string;
  readonly methods: readonly MethodVerifier[];
  readonly #byIssuer = new Map<string | undefined, MethodVerifier>();
  #other: MethodVerifier | undefined;

  /** @param methods the verifiers of the entries, in their order */
  constructor(entries: readonly TokenEntry[], methods: readonly MethodVerifier[]) {
    this.methods = methods;
    this.key = hash('sha256', JSON.stringify(methods.map(({ name, key }) => [name, key])));
    for (const [index, { kind, entry }] of entries.entries()) {
      if (kind === 'jwt') this.#byIssuer.set(entry.issuer, methods[index] as MethodVerifier);
      else this.#other = methods[index];
    }
  }

  cached(token: string, issuers?: Issuers): Principal | undefined {
    // The cached JWTs of a method name its issuer, so they need no decoding. Another token may name an issuer that a reload has added.
    const id = tokenHash(token);
    for (const jwts of this.#byIssuer.values()) {
      const known = issuers?.has(jwts.name) === true ? jwts.cachedById(id) : undefined;
      if (known !== undefined) return known;
    }
    const method = this.#methodFor(token, issuers);
    const principal = typeof method === 'string' ? undefined : method.cached(token);
    return principal !== undefined && this.#isIssuer(principal) ? principal : undefined;
  }

  async verify(token: string, client?: VerificationClient, issuers?: Issuers): Promise<VerificationResult> {
    const method = this.#methodFor(token, issuers);
    if (typeof method === 'string') return { code: method };
    const result = await method.verify(token, client);
    return 'code' in result || this.#isIssuer(result.principal) ? result : { code: 'issuer_wrong' };
  }

  #methodFor(token: string, issuers: Issuers): MethodVerifier | TokenErrorCode {
    const issuer = unverifiedIssuer(token);
    const method = (issuer === undefined ? undefined : this.#byIssuer.get(issuer)) ?? this.#other;
    if (method === undefined) return issuer === undefined ? 'token_malformed' : 'issuer_wrong';
    return issuers?.has(method.name) === true ? method : 'issuer_wrong';
  }

  /** False if a response of an identity service names the issuer of another method: an upstream would take its users for those. */
  #isIssuer({ claims: { iss }, issuer }: Principal): boolean {
    if (typeof iss !== 'string') return iss === undefined || iss === null;
    return (this.#byIssuer.get(iss)?.name ?? issuer) === issuer;
  }
}
