import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenCache } from '../../manifest/manifest.generated.ts';
import { durationMs } from '../../manifest/units.ts';
import type { Principal, Refused, TokenFault, Verdict, Verifier, VerifierStatus } from '../plan.ts';
import { type Claims, endMs } from './claims.ts';
import type { Asking } from './identity-client.ts';
import type { KeySource } from './key-source.ts';
import { Verification } from './verification.ts';

/** What one way of verifying finds out about a token that is not known. */
export interface Judge {
  readonly judge: (token: string, asking: Asking) => Promise<Good | Refused>;
  /** What tokens are judged by: what was judged by another such object counts no longer. */
  readonly basis?: () => unknown;
  /** The keys that it verifies by; left out: none. */
  readonly keys?: KeySource;
  /** Whether a refusal is worth remembering: finding out again would ask somebody. */
  readonly isAsking?: boolean;
}

/** A way of verifying, as a manifest has it. */
export interface Way extends Pick<Trust, 'staleMs'> {
  readonly judge: Judge;
  /** What it depends on beside its own definition: the keys of a file, the address of an upstream. */
  readonly outside: unknown;
}

export interface Good {
  readonly claims: Claims;
  /** The length of the text that they were read from. */
  readonly bytes: number;
  readonly basis?: unknown;
}

export interface Trust {
  readonly cache: TokenCache;
  readonly toleranceMs: number;
  /** How long beyond its trust a token is good while nobody can be asked about it. */
  readonly staleMs: number;
}

interface Entry {
  readonly principal: Principal;
  readonly basis: unknown;
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
export function createVerifier(key: string, { judge, basis, isAsking, keys }: Judge, trust: Trust): Verifier {
  const max = trust.cache.maxEntries;
  const maxAgeMs = durationMs(trust.cache.maxAge);
  const good = new LRUCache<string, Entry>({ max, maxSize: MAX_BYTES });
  const refused = new LRUCache<string, { verdict: Refused; until: number }>({ max });
  const judging = new Map<string, Verification>();
  const verdicts = new Map<TokenFault | 'good', number>();
  let hits = 0;
  let misses = 0;

  const known = (id: string): Entry | undefined => {
    const entry = good.get(id);
    return entry?.basis === basis?.() ? entry : undefined;
  };
  const learn = (id: string, { claims, bytes, basis }: Good): Verdict => {
    const now = Date.now();
    const end = endMs(claims, trust.toleranceMs);
    const principal = { claims, subject: subjectOf(claims), expiresAt: Math.min(end, now + maxAgeMs) };
    const staleUntil = Math.min(end, now + maxAgeMs + trust.staleMs);
    good.set(id, { principal, basis, staleUntil }, { size: bytes });
    return { principal };
  };
  const settle = async (id: string, token: string, asking: Asking): Promise<Verdict> => {
    const found = await judge(token, asking);
    // Nobody waits for it any longer: the clients have ended it, not the identity service.
    if ('fault' in found && found.fault === 'keys_unavailable' && asking.gone.aborted) return found;
    const verdict = 'claims' in found ? 'good' : found.fault;
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    if ('claims' in found) return learn(id, found);
    if (found.fault === 'keys_unavailable') {
      const entry = known(id);
      return entry !== undefined && entry.staleUntil > Date.now() ? { principal: entry.principal } : found;
    }
    good.delete(id);
    if (isAsking) refused.set(id, { verdict: found, until: performance.now() + REFUSED_MS });
    return found;
  };
  const begin = (id: string, token: string, client: string | undefined): Verification => {
    const forget = () => {
      if (judging.get(id) === verification) judging.delete(id);
    };
    const verification: Verification = new Verification((gone) => settle(id, token, { client, gone }), forget);
    judging.set(id, verification);
    return verification;
  };

  return {
    key,
    get status(): VerifierStatus {
      return {
        keys: keys?.state ?? 'none',
        cause: keys?.cause ?? null,
        good: good.size,
        refused: refused.size,
        verifying: judging.size,
        hits,
        misses,
        verdicts,
        fetched: keys?.fetched ?? 0,
        unfetched: keys?.unfetched ?? 0,
      };
    },
    prepare: async () => {
      if (keys?.state === 'unknown') await keys.current();
    },
    cached: (token) => {
      const entry = known(idOf(token));
      if (entry === undefined || entry.principal.expiresAt <= Date.now()) {
        misses += 1;
        return undefined;
      }
      hits += 1;
      return entry.principal;
    },
    verify: (token, client) => {
      const id = idOf(token);
      const refusal = refused.get(id);
      if (refusal !== undefined && refusal.until > performance.now()) return Promise.resolve(refusal.verdict);
      const verification = judging.get(id) ?? begin(id, token, client?.key);
      verification.join(client);
      return verification.verdict;
    },
  };
}

/** Runs for every request. Keeping the text beside its digest would save 0.6 µs, but leave tokens in memory while their connections are idle. */
function idOf(token: string): string {
  return hash('sha256', token, 'base64url');
}

function subjectOf({ sub }: Claims): string | undefined {
  return typeof sub === 'string' ? hash('sha256', sub).slice(0, 16) : undefined;
}
