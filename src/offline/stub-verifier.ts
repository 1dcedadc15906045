import { hash } from 'node:crypto';
import type { Principal, TokenErrorCode, VerificationResult } from '../plan/tokens/verification-result.ts';
import type { Verifier } from '../plan/tokens/verifier.ts';

export type CallerClaims = Readonly<Record<string, unknown>>;

/** What is stated of a token: the claims that it was verified to have, or why it is not accepted. */
export type StubToken = { readonly claims: CallerClaims } | { readonly code: TokenErrorCode };

/** Stands in for whoever verifies tokens: knows those that were stated, by their text. */
export class StubVerifier implements Verifier {
  readonly key = 'stated';
  readonly #stated = new Map<string, StubToken>();
  #verified: Principal[] = [];

  setToken(token: string, stated: StubToken): void {
    this.#stated.set(token, stated);
  }

  readonly status = { keys: 'none', cause: null, entries: 0, refused: 0, verifying: 0, ...COUNTS } as const;

  readonly prepare = async (): Promise<void> => undefined;

  readonly cached = (): undefined => undefined;

  readonly verify = async (token: string): Promise<VerificationResult> => {
    const stated = this.#stated.get(token) ?? UNKNOWN_TOKEN;
    if ('code' in stated) return stated;
    const principal = principalOf(stated.claims);
    this.#verified.push(principal);
    return { principal };
  };

  /** Whom the tokens name that were verified since this was asked last, in that order. */
  takeVerified(): readonly Principal[] {
    const verified = this.#verified;
    this.#verified = [];
    return verified;
  }
}

const COUNTS = { hits: 0, misses: 0, results: new Map(), fetches: 0, failedFetches: 0 } as const;

/** Of a token that nobody has stated nothing is known here: it is as one that no key has signed. */
const UNKNOWN_TOKEN: StubToken = { code: 'signature_wrong' };

function principalOf(claims: CallerClaims): Principal {
  const { sub } = claims;
  const subject = typeof sub === 'string' ? hash('sha256', sub).slice(0, 16) : undefined;
  return { claims, subject, expiresAt: Number.POSITIVE_INFINITY };
}
