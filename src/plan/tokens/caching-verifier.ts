import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenCache } from '../../manifest/manifest.generated.ts';
import { durationMs } from '../../manifest/units.ts';
import { expiryMs, type TokenClaims } from './claims.ts';
import type { VerificationContext } from './identity-client.ts';
import type { KeySource } from './key-source.ts';
import { SharedVerification } from './shared-verification.ts';
import type { Principal, RejectedToken, TokenErrorCode, VerificationResult } from './verification-result.ts';
import type { Verifier, VerifierStatus } from './verifier.ts';

/** Verifies tokens that are not cached, by one method: JWT, introspection or userinfo. */
export interface TokenVerifier {
  readonly verify: (token: string, context: VerificationContext) => Promise<VerifiedToken | RejectedToken>;
  /** Returns the current keys. Tokens that were verified with other keys are no longer cached. */
  readonly keySet?: () => unknown;
  /** The source of its keys; absent for methods without keys. */
  readonly keySource?: KeySource;
  /** True if each verification sends a request. Rejected tokens are then cached too. */
  readonly isRemote?: boolean;
}

/** A verification method of a manifest. */
export interface TokenMethod extends Pick<TokenCacheSettings, 'staleIfErrorMs'> {
  readonly verifier: TokenVerifier;
  /** Values that it depends on besides its own definition: the keys of a file, the address of an upstream. */
  readonly dependencies: unknown;
}

export interface VerifiedToken {
  readonly claims: TokenClaims;
  /** The length of the text that the claims were read from. */
  readonly bytes: number;
  readonly keySet?: unknown;
}

export interface TokenCacheSettings {
  readonly cache: TokenCache;
  readonly clockToleranceMs: number;
  /** How long a cached token is accepted beyond its cache time while the identity service is unavailable. */
  readonly staleIfErrorMs: number;
}

interface CacheEntry {
  readonly principal: Principal;
  readonly keySet: unknown;
  readonly staleUntil: number;
}

/** How long a rejected token is cached, so that a client that repeats it does not flood the issuer. */
const REJECTED_MS = 5_000;
/** The total length of the texts that cached claims were read from. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Wraps a verification method with a cache. The cache holds the SHA-256 of tokens, never the tokens. Concurrent requests with
 * one token share one verification.
 */
export function createCachingVerifier(
  key: string,
  { verify, keySet, isRemote, keySource }: TokenVerifier,
  settings: TokenCacheSettings,
): Verifier {
  const max = settings.cache.maxEntries;
  const maxAgeMs = durationMs(settings.cache.maxAge);
  const accepted = new LRUCache<string, CacheEntry>({ max, maxSize: MAX_BYTES });
  const rejected = new LRUCache<string, { verdict: RejectedToken; until: number }>({ max });
  const pending = new Map<string, SharedVerification>();
  const results = new Map<TokenErrorCode | 'valid', number>();
  let hits = 0;
  let misses = 0;

  const cachedEntry = (id: string): CacheEntry | undefined => {
    const entry = accepted.get(id);
    return entry?.keySet === keySet?.() ? entry : undefined;
  };
  const store = (id: string, { claims, bytes, keySet }: VerifiedToken): VerificationResult => {
    const now = Date.now();
    const expiry = expiryMs(claims, settings.clockToleranceMs);
    const principal = { claims, subject: subjectOf(claims), expiresAt: Math.min(expiry, now + maxAgeMs) };
    const staleUntil = Math.min(expiry, now + maxAgeMs + settings.staleIfErrorMs);
    accepted.set(id, { principal, keySet, staleUntil }, { size: bytes });
    return { principal };
  };
  const settle = async (id: string, token: string, context: VerificationContext): Promise<VerificationResult> => {
    const result = await verify(token, context);
    // All clients disconnected, so the identity service did not fail.
    if ('code' in result && result.code === 'keys_unavailable' && context.signal.aborted) return result;
    const verdict = 'claims' in result ? 'valid' : result.code;
    results.set(verdict, (results.get(verdict) ?? 0) + 1);
    if ('claims' in result) return store(id, result);
    if (result.code === 'keys_unavailable') {
      const entry = cachedEntry(id);
      return entry !== undefined && entry.staleUntil > Date.now() ? { principal: entry.principal } : result;
    }
    accepted.delete(id);
    if (isRemote) rejected.set(id, { verdict: result, until: performance.now() + REJECTED_MS });
    return result;
  };
  const startVerification = (id: string, token: string, clientKey: string | undefined): SharedVerification => {
    const forget = () => {
      if (pending.get(id) === verification) pending.delete(id);
    };
    const verification: SharedVerification = new SharedVerification(
      (signal) => settle(id, token, { clientKey, signal }),
      forget,
    );
    pending.set(id, verification);
    return verification;
  };

  return {
    key,
    get status(): VerifierStatus {
      return {
        keys: keySource?.state ?? 'none',
        cause: keySource?.lastError ?? null,
        entries: accepted.size,
        refused: rejected.size,
        verifying: pending.size,
        hits,
        misses,
        results,
        fetches: keySource?.fetchSuccesses ?? 0,
        failedFetches: keySource?.fetchFailures ?? 0,
      };
    },
    prepare: async () => {
      if (keySource?.state === 'unknown') await keySource.current();
    },
    cached: (token) => {
      const entry = cachedEntry(tokenHash(token));
      if (entry === undefined || entry.principal.expiresAt <= Date.now()) {
        misses += 1;
        return undefined;
      }
      hits += 1;
      return entry.principal;
    },
    verify: (token, client) => {
      const id = tokenHash(token);
      const rejection = rejected.get(id);
      if (rejection !== undefined && rejection.until > performance.now()) return Promise.resolve(rejection.verdict);
      const verification = pending.get(id) ?? startVerification(id, token, client?.key);
      verification.join(client);
      return verification.verdict;
    },
  };
}

/** Runs for every request. A cache of hashes by token would save 0.6 µs, but would keep tokens in memory. */
function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

function subjectOf({ sub }: TokenClaims): string | undefined {
  return typeof sub === 'string' ? hash('sha256', sub).slice(0, 16) : undefined;
}
