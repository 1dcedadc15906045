import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { JSONWebKeySet } from 'jose';

/** Keys, as far as they are known now. */
export interface KeySource {
  /** The keys at hand, fetched first when there are none or they are stale; `undefined` when none can be had. */
  current(): Promise<JSONWebKeySet | undefined>;
  /**
   * Newer keys than `known`, for a token that names a key unknown to it. Asks the issuer at most once in a
   * cooldown, so that tokens with made-up keys cannot drive requests. `undefined` when there are none.
   */
  newer(known: JSONWebKeySet): Promise<JSONWebKeySet | undefined>;
}

const FRESH_MS = 600_000;
const COOLDOWN_MS = 10_000;
/** While the issuer is down the last keys serve this long. */
const STALE_MS = 3_600_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 262_144;

export function localKeys(keys: JSONWebKeySet): KeySource {
  return { current: async () => keys, newer: async () => undefined };
}

/** Keys behind a URL: one request in flight, with a time limit and a size limit; redirects are not followed. */
export function remoteKeys(url: string): KeySource {
  let keys: JSONWebKeySet | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const ask = () => {
    askedAt = performance.now();
    asking ??= fetchKeys(url)
      .then((fetched) => {
        // Equal keys stay the same object: tokens that were verified by them stay known.
        if (JSON.stringify(fetched) !== JSON.stringify(keys)) keys = fetched;
        fetchedAt = performance.now();
      })
      .catch(() => undefined)
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  const mayAsk = () => asking !== undefined || performance.now() - askedAt > COOLDOWN_MS;
  const age = () => performance.now() - fetchedAt;

  return {
    async current() {
      // Without any key every request asks; one is in flight at a time, so a dead issuer is not flooded.
      // Keys too old to serve are as none: there may have been no request for hours.
      if (keys === undefined || age() > STALE_MS + FRESH_MS) await ask();
      else if (age() > FRESH_MS && mayAsk()) void ask();
      return age() > STALE_MS + FRESH_MS ? undefined : keys;
    },
    async newer(known) {
      if (keys === known && mayAsk()) await ask();
      return keys === known ? undefined : keys;
    },
  };
}

/** By `node:http`, which follows no redirects; the built-in `fetch` would cost 20 MB of memory. */
async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const get = url.startsWith('https:') ? https.get : http.get;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const request = get(url, { signal, headers: { Accept: 'application/jwk-set+json, application/json' } });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  // What ends the exchange later is told by the response.
  request.on('error', () => undefined);
  try {
    if (response.statusCode !== 200) throw new Error(`the issuer answered ${response.statusCode}`);
    return readKeySet(JSON.parse(await readLimited(response)));
  } finally {
    response.destroy();
  }
}

async function readLimited(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the key set is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Checks the outline of a key set (RFC 7517 section 5); each key is checked when it is first used. */
export function readKeySet(value: unknown): JSONWebKeySet {
  const keys: unknown = value !== null && typeof value === 'object' && 'keys' in value ? value.keys : undefined;
  const isKey = (key: unknown) =>
    key !== null && typeof key === 'object' && 'kty' in key && typeof key.kty === 'string';
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isKey))
    throw new Error('it is no JWKS: an object with a list "keys"');
  return value as JSONWebKeySet;
}
