import type { CachedRejection, CachedToken, VerificationClient } from './verifier.ts';

/** The verification of one token for all clients that wait for it. It is aborted when all of them have disconnected. */
export class SharedVerification {
  readonly verdict: Promise<CachedToken | CachedRejection>;
  readonly #abort = new AbortController();
  readonly #forget: () => void;
  #waiting = 0;

  /** @param forget called when it has ended or was aborted, so that the next client begins another one */
  constructor(verify: (signal: AbortSignal) => Promise<CachedToken | CachedRejection>, forget: () => void) {
    this.#forget = forget;
    this.verdict = verify(this.#abort.signal).finally(forget);
  }

  /** @param client `undefined` for the gateway itself, which does not disconnect */
  join(client: VerificationClient | undefined): void {
    this.#waiting += 1;
    if (client?.signal.aborted) this.#leave();
    else client?.signal.addEventListener('abort', () => this.#leave(), { once: true });
  }

  #leave(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#forget();
    this.#abort.abort();
  }
}
