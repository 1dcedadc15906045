import { hash } from 'node:crypto';
import type { Principal, VerificationResult, Verifier } from '../../engine/tokens/verifier.ts';

export type CallerClaims = Readonly<Record<string, unknown>>;

/** The result for a token: its verified claims, or the reason why it is not accepted. */
export type StubToken =
  | { readonly claims: CallerClaims }
  | Exclude<VerificationResult, { readonly principal: Principal }>;

/** Replaces the verifier of a plan: returns the configured result of each token. */
export class StubVerifier implements Verifier {
  readonly key = 'stub';
  readonly #tokens = new Map<string, StubToken>();
  #verified: Principal[] = [];

  setToken(token: string, result: StubToken): void {
    this.#tokens.set(token, result);
  }

  /** Returns the header of a caller with these claims; none without claims. */
  authorize(claims: CallerClaims | undefined): readonly string[] {
    if (claims === undefined) return [];
    this.setToken(CALLER_TOKEN, { claims });
    return ['Authorization', `Bearer ${CALLER_TOKEN}`];
  }

  readonly status = { keys: 'none', cause: null, entries: 0, refused: 0, verifying: 0, ...COUNTS } as const;

  readonly share = (): void => undefined;

  readonly prepare = async (): Promise<void> => undefined;

  readonly cached = (): undefined => undefined;

  readonly verify = async (token: string): Promise<VerificationResult> => {
    const result = this.#tokens.get(token) ?? UNKNOWN_TOKEN;
    if ('code' in result) return result;
    const principal = principalOf(result.claims);
    this.#verified.push(principal);
    return { principal };
  };

  /** Returns the principals of the tokens that were verified since the last call, in that order. */
  takeVerified(): readonly Principal[] {
    const verified = this.#verified;
    this.#verified = [];
    return verified;
  }
}

/** Stands for the token of the caller. No test file can name a token like this. */
const CALLER_TOKEN = '<token>';

const COUNTS = { hits: 0, misses: 0, results: new Map(), fetches: 0, failedFetches: 0 } as const;

/** A token without a configured result fails like one with a wrong signature. */
const UNKNOWN_TOKEN: StubToken = { code: 'signature_wrong' };

function principalOf(claims: CallerClaims): Principal {
  const { sub } = claims;
  const subject = typeof sub === 'string' ? hash('sha256', sub).slice(0, 16) : undefined;
  return { claims, subject, expiresAt: Number.POSITIVE_INFINITY };
}
