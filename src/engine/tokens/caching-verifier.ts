import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { durationMs } from '../manifest/units.ts';
import { sharedNow, type WorkerContext } from '../shared-memory/worker-context.ts';
import { expiryMs } from './claims.ts';
import { HITS, TokenCounts, tokenBuffer } from './token-counts.ts';
import { KEYS_UNAVAILABLE, type TokenCacheSettings, type TokenVerifier, type VerifiedToken } from './token-method.ts';
import {
  type CachedToken,
  type MethodVerifier,
  type NetworkVerifier,
  type Principal,
  type RejectedToken,
  subjectOf,
  type VerificationClient,
  type VerifierStatus,
} from './verifier.ts';

/** How long a rejected token is cached, so that a client that repeats it does not flood the issuer. */
const REJECTED_MS = 5_000;
/** The total length of the texts that cached claims were read from. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Wraps a verification method with a cache. The cache holds the SHA-256 of tokens, never the tokens. Concurrent requests with
 * one token share one verification.
 */
export class CachingVerifier implements MethodVerifier {
  readonly key: string;
  readonly name: string | undefined;
  readonly buffer: MethodVerifier['buffer'];
  readonly network: NetworkVerifier;
  readonly #method: TokenVerifier;
  readonly #settings: TokenCacheSettings;
  readonly #maxAgeMs: number;
  readonly #accepted: LRUCache<string, CachedToken>;
  readonly #rejected: LRUCache<string, RejectedToken>;
  readonly #pending = new Map<string, SharedVerification>();
  #counts = new TokenCounts();

  /** @param name the name of the method; `undefined` if the manifest has only one */
  constructor(key: string, method: TokenVerifier, settings: TokenCacheSettings, name?: string) {
    this.key = key;
    this.name = name;
    this.buffer = tokenBuffer(key);
    this.network = {
      keys: async (request) => (await method.keySource?.publish?.(request)) ?? KEYS_UNAVAILABLE,
      verify: (token, client) => this.#cachedOrVerified(token, client),
    };
    this.#method = method;
    this.#settings = settings;
    this.#maxAgeMs = durationMs(settings.cache.maxAge);
    const { maxEntries } = settings.cache;
    // With `max`, the library would allocate the memory of all entries now, in each check of a manifest.
    this.#accepted = new LRUCache({
      maxSize: maxEntries * MAX_BYTES,
      sizeCalculation: ({ bytes }) => Math.max(MAX_BYTES, maxEntries * bytes),
    });
    this.#rejected = new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
  }

  get methods(): readonly MethodVerifier[] {
    return [this];
  }

  get status(): VerifierStatus {
    const { keySource } = this.#method;
    const counts = this.#counts;
    return {
      ...(keySource?.status ?? { keys: keySource === undefined ? 'none' : 'known', fetches: 0, failedFetches: 0 }),
      cause: keySource?.lastError ?? null,
      entries: counts.sum('entries'),
      refused: counts.sum('refused'),
      verifying: counts.sum('verifying'),
      hits: counts.sum('hits'),
      misses: counts.sum('misses'),
      results: counts.results,
    };
  }

  async prepare(): Promise<void> {
    const { keySource } = this.#method;
    if (keySource?.status?.keys === 'unknown') await keySource.current();
  }

  share({ memory, index }: Pick<WorkerContext, 'memory' | 'index'>): void {
    const { name, bytes } = this.buffer;
    this.#counts = new TokenCounts(memory.buffer(name, bytes), index);
    this.#method.keySource?.share?.(this.#counts.keyVersion);
    this.#countTokens();
  }

  cached(token: string): Principal | undefined {
    const entry = this.#entry(tokenHash(token), Date.now());
    if (entry === undefined) this.#counts.add('misses');
    else (this.#counts.own[HITS] as number) += 1;
    return entry?.principal;
  }

  cachedById(id: string): Principal | undefined {
    const entry = this.#entry(id, Date.now());
    if (entry !== undefined) this.#counts.add('hits');
    return entry?.principal;
  }

  /** For another thread, which counts the hit or the miss itself. */
  async #cachedOrVerified(token: string, client: VerificationClient | undefined): Promise<CachedToken | RejectedToken> {
    const id = tokenHash(token);
    return this.#entry(id, Date.now()) ?? this.#verify(id, token, client);
  }

  /** Returns a token that was verified with the current keys. @param now leaves out tokens that have expired by this time */
  #entry(id: string, now = 0): CachedToken | undefined {
    const entry = this.#accepted.get(id);
    if (entry === undefined || entry.keySet !== this.#method.keySource?.cachedKeys) return undefined;
    return entry.principal.expiresAt > now ? entry : undefined;
  }

  verify(token: string, client?: VerificationClient): Promise<CachedToken | RejectedToken> {
    return this.#verify(tokenHash(token), token, client);
  }

  async #verify(
    id: string,
    token: string,
    client: VerificationClient | undefined,
  ): Promise<CachedToken | RejectedToken> {
    const arrivedAt = sharedNow();
    const rejection = this.#rejected.get(id);
    if (rejection?.until !== undefined && rejection.until > arrivedAt) return rejection;
    const verification = this.#pending.get(id) ?? this.#start(id, token, client?.key);
    verification.join(client);
    const verdict = await verification.verdict;
    // A slow issuer may have received the request for the token so long before this client came that its response is too old.
    const isTooOld = 'askedAt' in verdict && verdict.askedAt + this.#maxAgeMs < arrivedAt;
    return isTooOld ? this.#verify(id, token, client) : verdict;
  }

  #start(id: string, token: string, key: string | undefined): SharedVerification {
    const forget = () => {
      if (this.#pending.get(id) === verification) this.#pending.delete(id);
      this.#countTokens();
    };
    const verification: SharedVerification = new SharedVerification(
      (signal) => this.#settle(id, token, { key, signal }),
      forget,
    );
    this.#pending.set(id, verification);
    this.#countTokens();
    return verification;
  }

  async #settle(id: string, token: string, client: VerificationClient): Promise<CachedToken | RejectedToken> {
    const askedAt = sharedNow();
    const result = await this.#method.verify(token, client);
    // All clients disconnected, so the identity service did not fail.
    if ('code' in result && result.code === 'keys_unavailable' && client.signal.aborted) return result;
    if (!this.#method.isDelegated) this.#counts.add('code' in result ? result.code : 'valid');
    if ('code' in result) return this.#reject(id, result, askedAt);
    const entry = 'principal' in result ? result : this.#toEntry(result, askedAt);
    this.#accepted.set(id, entry);
    return entry;
  }

  #reject(id: string, result: RejectedToken, askedAt: number): CachedToken | RejectedToken {
    if (result.code === 'keys_unavailable') {
      const entry = this.#entry(id);
      return entry !== undefined && entry.staleUntil > Date.now() ? { ...entry, askedAt } : result;
    }
    this.#accepted.delete(id);
    if (!this.#method.isRemote) return result;
    // The main thread may have rejected it earlier.
    const rejection = { until: askedAt + REJECTED_MS, ...result };
    this.#rejected.set(id, rejection);
    return rejection;
  }

  /** A response is as old as its request: the issuer may have decided at once, and revoked the token before the response came. */
  #toEntry({ claims, bytes, keySet }: VerifiedToken, askedAt: number): CachedToken {
    const { clockToleranceMs, staleIfErrorMs } = this.#settings;
    const staleAt = Date.now() - (sharedNow() - askedAt) + this.#maxAgeMs;
    const expiry = expiryMs(claims, clockToleranceMs);
    const issuer = this.name;
    const principal = { claims, subject: subjectOf(claims, issuer), issuer, expiresAt: Math.min(expiry, staleAt) };
    return { principal, keySet, askedAt, staleUntil: Math.min(expiry, staleAt + staleIfErrorMs), bytes };
  }

  #countTokens(): void {
    // Tokens of a delegated verifier are in the cache of the main thread too.
    if (this.#method.isDelegated) return;
    this.#counts.set('entries', this.#accepted.size);
    this.#counts.set('refused', this.#rejected.size);
    this.#counts.set('verifying', this.#pending.size);
  }
}

/** Runs for every request. A cache of hashes by token would save 0.6 µs, but would keep tokens in memory. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** The verification of one token for all clients that wait for it. It is aborted when all of them have disconnected. */
class SharedVerification {
  readonly verdict: Promise<CachedToken | RejectedToken>;
  readonly #abort = new AbortController();
  readonly #forget: () => void;
  #waiting = 0;

  /** @param forget called when it has ended or was aborted, so that the next client begins another one */
  constructor(verify: (signal: AbortSignal) => Promise<CachedToken | RejectedToken>, forget: () => void) {
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
