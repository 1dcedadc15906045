import type { VerificationResult } from './verification-result.ts';
import type { VerificationClient } from './verifier.ts';

/** The verification of one token, for all clients that wait for it. It ends early when all of them have left. */
export class SharedVerification {
  readonly verdict: Promise<VerificationResult>;
  readonly #gone = new AbortController();
  readonly #forget: () => void;
  #waiting = 0;

  /** @param forget called once it is over or abandoned: the next client begins another one */
  constructor(settle: (gone: AbortSignal) => Promise<VerificationResult>, forget: () => void) {
    this.#forget = forget;
    this.verdict = settle(this.#gone.signal).finally(forget);
  }

  /** @param client left out: the gateway itself, which does not leave */
  join(client: VerificationClient | undefined): void {
    this.#waiting += 1;
    if (client?.signal.aborted) this.#leave();
    else client?.signal.addEventListener('abort', () => this.#leave(), { once: true });
  }

  #leave(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#forget();
    this.#gone.abort();
  }
}
