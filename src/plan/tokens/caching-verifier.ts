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

/** What one way of verifying finds out about a token that is not known. */
export interface TokenVerifier {
  readonly verify: (token: string, asking: VerificationContext) => Promise<VerifiedToken | RejectedToken>;
  /** What tokens are judged by: what was judged by another such object counts no longer. */
  readonly keySet?: () => unknown;
  /** The keys that it verifies by; left out: none. */
  readonly keySource?: KeySource;
  /** Whether a refusal is worth remembering: finding out again would ask somebody. */
  readonly isRemote?: boolean;
}

/** A way of verifying, as a manifest has it. */
export interface TokenMethod extends Pick<TokenCacheSettings, 'staleIfErrorMs'> {
  readonly verifier: TokenVerifier;
  /** What it depends on beside its own definition: the keys of a file, the address of an upstream. */
  readonly dependencies: unknown;
}

export interface VerifiedToken {
  readonly claims: TokenClaims;
  /** The length of the text that they were read from. */
  readonly bytes: number;
  readonly keySet?: unknown;
}

export interface TokenCacheSettings {
  readonly cache: TokenCache;
  readonly clockToleranceMs: number;
  /** How long beyond its trust a token is good while nobody can be asked about it. */
  readonly staleIfErrorMs: number;
}

interface CacheEntry {
  readonly principal: Principal;
  readonly keySet: unknown;
  readonly staleUntil: number;
}

/** A refusal holds this long: whoever tries a token again and again asks the issuer no more often. */
const REFUSED_MS = 5_000;
/** What the claims that are remembered were read from, together. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * The memory that all ways of verifying share. Tokens are known by their SHA-256, so that none is kept; one that
 * is being judged is not judged a second time meanwhile.
 */
export function createCachingVerifier(
  key: string,
  { verify, keySet, isRemote, keySource }: TokenVerifier,
  trust: TokenCacheSettings,
): Verifier {
  const max = trust.cache.maxEntries;
  const maxAgeMs = durationMs(trust.cache.maxAge);
  const good = new LRUCache<string, CacheEntry>({ max, maxSize: MAX_BYTES });
  const refused = new LRUCache<string, { verdict: RejectedToken; until: number }>({ max });
  const judging = new Map<string, SharedVerification>();
  const results = new Map<TokenErrorCode | 'valid', number>();
  let hits = 0;
  let misses = 0;

  const known = (id: string): CacheEntry | undefined => {
    const entry = good.get(id);
    return entry?.keySet === keySet?.() ? entry : undefined;
  };
  const learn = (id: string, { claims, bytes, keySet }: VerifiedToken): VerificationResult => {
    const now = Date.now();
    const end = expiryMs(claims, trust.clockToleranceMs);
    const principal = { claims, subject: subjectOf(claims), expiresAt: Math.min(end, now + maxAgeMs) };
    const staleUntil = Math.min(end, now + maxAgeMs + trust.staleIfErrorMs);
    good.set(id, { principal, keySet, staleUntil }, { size: bytes });
    return { principal };
  };
  const settle = async (id: string, token: string, asking: VerificationContext): Promise<VerificationResult> => {
    const found = await verify(token, asking);
    // Nobody waits for it any longer: the clients have ended it, not the identity service.
    if ('code' in found && found.code === 'keys_unavailable' && asking.signal.aborted) return found;
    const verdict = 'claims' in found ? 'valid' : found.code;
    results.set(verdict, (results.get(verdict) ?? 0) + 1);
    if ('claims' in found) return learn(id, found);
    if (found.code === 'keys_unavailable') {
      const entry = known(id);
      return entry !== undefined && entry.staleUntil > Date.now() ? { principal: entry.principal } : found;
    }
    good.delete(id);
    if (isRemote) refused.set(id, { verdict: found, until: performance.now() + REFUSED_MS });
    return found;
  };
  const begin = (id: string, token: string, clientKey: string | undefined): SharedVerification => {
    const forget = () => {
      if (judging.get(id) === verification) judging.delete(id);
    };
    const verification: SharedVerification = new SharedVerification(
      (signal) => settle(id, token, { clientKey, signal }),
      forget,
    );
    judging.set(id, verification);
    return verification;
  };

  return {
    key,
    get status(): VerifierStatus {
      return {
        keys: keySource?.state ?? 'none',
        cause: keySource?.lastError ?? null,
        entries: good.size,
        refused: refused.size,
        verifying: judging.size,
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
      const entry = known(tokenHash(token));
      if (entry === undefined || entry.principal.expiresAt <= Date.now()) {
        misses += 1;
        return undefined;
      }
      hits += 1;
      return entry.principal;
    },
    verify: (token, client) => {
      const id = tokenHash(token);
      const refusal = refused.get(id);
      if (refusal !== undefined && refusal.until > performance.now()) return Promise.resolve(refusal.verdict);
      const verification = judging.get(id) ?? begin(id, token, client?.key);
      verification.join(client);
      return verification.verdict;
    },
  };
}

/** Runs for every request. Keeping the text beside its digest would save 0.6 µs, but leave tokens in memory while their connections are idle. */
function tokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

function subjectOf({ sub }: TokenClaims): string | undefined {
  return typeof sub === 'string' ? hash('sha256', sub).slice(0, 16) : undefined;
}
