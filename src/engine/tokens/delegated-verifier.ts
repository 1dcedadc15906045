import { sharedNow } from '../shared-memory/worker-context.ts';
import { createKeySet, type VerificationKeySet } from './key-set.ts';
import type { KeySource, TokenVerifier } from './token-method.ts';
import type { KeyLookup, KeyResponse, NetworkVerifier } from './verifier.ts';

/**
 * Creates a verifier that leaves each verification to the main thread.
 *
 * @param local verifies tokens when the main thread no longer has the verifier: for requests that began before a reload
 */
export function createDelegatedVerifier(network: NetworkVerifier, local: TokenVerifier): TokenVerifier {
  const verify: TokenVerifier['verify'] = async (token, client) => {
    try {
      return await network.verify(token, client);
    } catch {
      if (client.signal.aborted) return { code: 'keys_unavailable', cause: 'client_disconnected' };
      return await local.verify(token, client);
    }
  };
  return { verify, isRemote: true, isDelegated: true };
}

/**
 * The keys that the main thread has fetched. This thread has a copy of them, which is valid until the version in the shared cell
 * changes.
 */
export class DelegatedKeySource implements KeySource {
  lastError: string | undefined;
  readonly #network: NetworkVerifier;
  readonly #local: KeySource;
  #currentVersion: Int32Array = new Int32Array(1);
  #keys: VerificationKeySet | undefined;
  #version = 0;
  #freshUntilMs = 0;
  #requesting: Promise<VerificationKeySet | undefined> | undefined;

  /** @param local fetches keys when the main thread no longer has the verifier: for requests that began before a reload */
  constructor(network: NetworkVerifier, local: KeySource) {
    this.#network = network;
    this.#local = local;
  }

  get cachedKeys(): VerificationKeySet | undefined {
    return this.#version === Atomics.load(this.#currentVersion, 0) ? this.#keys : undefined;
  }

  share(version: Int32Array): void {
    this.#currentVersion = version;
  }

  async current(): Promise<VerificationKeySet | undefined> {
    const keys = this.cachedKeys;
    if (keys !== undefined && sharedNow() < this.#freshUntilMs) return keys;
    this.#requesting ??= this.#requestCurrent().finally(() => {
      this.#requesting = undefined;
    });
    return this.#requesting;
  }

  async refresh(keys: VerificationKeySet, lookup: KeyLookup): Promise<VerificationKeySet | 'none' | 'unavailable'> {
    if (keys === this.#local.cachedKeys) return this.#local.refresh(keys, lookup);
    // Another token has caused newer keys to be received.
    if (this.#keys !== undefined && keys !== this.#keys) return this.#keys;
    return (await this.#request(lookup)) ?? 'unavailable';
  }

  async #requestCurrent(): Promise<VerificationKeySet | undefined> {
    const keys = await this.#request(undefined);
    return keys === 'none' ? undefined : keys;
  }

  async #request(lookup: KeyLookup | undefined): Promise<VerificationKeySet | 'none' | undefined> {
    let response: KeyResponse;
    try {
      response = await this.#network.keys({ version: this.#version, lookup });
    } catch {
      // Nobody reports that these keys have changed.
      this.#keys = undefined;
      const keys = await this.#local.current();
      this.lastError = this.#local.lastError;
      return keys;
    }
    if (response.outcome === 'none') return 'none';
    this.lastError = response.outcome === 'unavailable' ? response.cause : undefined;
    return response.outcome === 'unavailable' ? undefined : this.#receive(response);
  }

  #receive({ keys, version, freshUntilMs }: Extract<KeyResponse, { readonly outcome: 'keys' }>) {
    if (keys !== undefined && version !== this.#version) {
      this.#keys = createKeySet(keys);
      this.#version = version;
    }
    if (version === this.#version) this.#freshUntilMs = freshUntilMs;
    return this.#keys;
  }
}
