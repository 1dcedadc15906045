import {
  type Issuers,
  type Principal,
  subjectOf,
  type VerificationClient,
  type VerificationResult,
  type Verifier,
} from '../../engine/tokens/verifier.ts';

export type CallerClaims = Readonly<Record<string, unknown>>;

/** A caller with a valid token: its claims, and the method that verified it if there are several. */
export interface Caller {
  readonly claims: CallerClaims;
  readonly issuer?: string | undefined;
}

/** The result for a token: its caller, or the reason why it is not accepted. */
export type StubToken = Caller | Exclude<VerificationResult, { readonly principal: Principal }>;

/** Replaces the verifier of a plan: returns the configured result of each token. */
export class StubVerifier implements Verifier {
  readonly key = 'stub';
  readonly methods = [];
  readonly #tokens = new Map<string, StubToken>();
  #verified: Principal[] = [];

  setToken(token: string, result: StubToken): void {
    this.#tokens.set(token, result);
  }

  /** Returns the header of a caller; none without one. */
  authorize(caller: StubToken | undefined, token = CALLER_TOKEN): readonly string[] {
    if (caller === undefined) return [];
    this.setToken(token, caller);
    return ['Authorization', `Bearer ${token}`];
  }

  readonly cached = (): undefined => undefined;

  readonly verify = async (
    token: string,
    _client?: VerificationClient,
    issuers?: Issuers,
  ): Promise<VerificationResult> => {
    const result = this.#tokens.get(token) ?? UNKNOWN_TOKEN;
    if ('code' in result) return result;
    const { claims, issuer } = result;
    if (issuers !== undefined && !issuers.has(issuer)) return { code: 'issuer_wrong' };
    const subject = subjectOf(claims, issuer);
    const principal = { claims, subject, issuer, expiresAt: Number.POSITIVE_INFINITY };
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

/** A token without a configured result fails like one with a wrong signature. */
const UNKNOWN_TOKEN: StubToken = { code: 'signature_wrong' };
