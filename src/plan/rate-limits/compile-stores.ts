import { hash } from 'node:crypto';
import type { Manifest, Redis, Store as StoreEntry } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { timerMs } from '../../manifest/units.ts';
import { errorAt, type Finding, type Path, quoteFreeErrorAt } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import { readCertificate } from '../settings/pem.ts';
import { requireSecretFromEnvironment } from '../tokens/tokens-context.ts';
import type { CounterStore, RedisSettings } from './counter-store.ts';

export interface StoresContext {
  readonly readFile: Environment['readFile'];
  readonly secrets: Secrets;
  readonly findings: Finding[];
}

/** Stores by id; `undefined` for one with errors. */
export type Stores = ReadonlyMap<string, CounterStore | undefined>;

/** A shorter secret could be guessed from the hashes of known addresses. */
const MIN_SECRET = 16;

export function compileStores(entries: Manifest['stores'], context: StoresContext): Stores {
  return new Map(Object.entries(entries).map(([id, entry]) => [id, compileStore(id, entry, context)]));
}

function compileStore(id: string, entry: StoreEntry, context: StoresContext): CounterStore | undefined {
  const path = ['stores', id];
  const { secret } = entry;
  if (requireSecretFromEnvironment([...path, 'secret'], context) && secret.length < MIN_SECRET) {
    const message = `a secret of fewer than ${MIN_SECRET} characters can be guessed; set a longer one, such as the output of "openssl rand -hex 32"`;
    context.findings.push(quoteFreeErrorAt([...path, 'secret'], 'store-secret', message));
  }
  const redis = compileRedis(entry.redis, [...path, 'redis'], context);
  if (redis === undefined) return undefined;
  const { timeout, onFailure } = entry;
  const settings = { redis: () => redis, secret: () => secret, timeoutMs: timerMs(timeout), onFailure } as const;
  return Object.freeze({
    id,
    key: hash('sha256', JSON.stringify([id, redis, secret, timeout, onFailure])),
    ...settings,
  });
}

const KINDS = { url: 'server', sentinels: 'sentinel', cluster: 'cluster' } as const;

function compileRedis(entry: string | Redis, path: Path, context: StoresContext): RedisSettings | undefined {
  const { findings, readFile } = context;
  const settings: Redis = typeof entry === 'string' ? { url: entry } : entry;
  const kinds = (['url', 'sentinels', 'cluster'] as const).filter((key) => settings[key] !== undefined);
  const [key] = kinds;
  if (key === undefined || kinds.length > 1) {
    const message = 'write exactly one of "url", "sentinels" and "cluster"';
    findings.push(quoteFreeErrorAt(path, 'store-redis', message));
    return undefined;
  }
  if ((key === 'sentinels') !== (settings.name !== undefined)) {
    const message =
      key === 'sentinels'
        ? 'the Sentinel servers need the name of the primary; add name: and the name that they use'
        : '"name" is for "sentinels" only; remove it';
    findings.push(errorAt(path, 'store-redis', message));
  }
  if (settings.password !== undefined) requireSecretFromEnvironment([...path, 'password'], context);
  const urlPath = typeof entry === 'string' ? path : [...path, key];
  const urls = [settings[key] ?? []].flat();
  const parsed = urls.map((url, index) =>
    parseRedisUrl(url, Array.isArray(settings[key]) ? [...urlPath, index] : urlPath, context),
  );
  const [first] = parsed;
  if (first === undefined || parsed.some((url) => url === undefined)) return undefined;
  const caContext = { readFile, rule: 'store-redis', findings };
  const ca = settings.ca === undefined ? undefined : readCertificate(settings.ca, [...path, 'ca'], caContext);
  const user = { username: textOf(first.username), password: textOf(first.password) };
  return {
    kind: KINDS[key],
    urls: parsed.map((url) => `${url?.protocol}//${url?.host}`),
    name: settings.name,
    database: Number(first.pathname.slice(1)),
    username: settings.username ?? user.username,
    password: settings.password ?? user.password,
    sentinelUser: key === 'sentinels' && user.password !== undefined ? user : undefined,
    ca: ca?.text,
  };
}

/** Parses the URL of a Redis server. Reports one that is not valid, and a password in the file. */
function parseRedisUrl(text: string, path: Path, context: StoresContext): URL | undefined {
  const { findings } = context;
  const url = URL.parse(text);
  const isValid =
    url !== null &&
    url.hostname !== '' &&
    /^(?:\/\d{0,4})?$/.test(url.pathname) &&
    url.search + url.hash === '' &&
    isDecodable(url.username + url.password);
  if (!isValid) {
    const message =
      'this is not the URL of a Redis server; write for example redis://127.0.0.1:6379 or rediss://host:6379/0';
    findings.push(quoteFreeErrorAt(path, 'store-redis', message));
    return undefined;
  }
  if (url.password !== '') requireSecretFromEnvironment(path, context);
  return url;
}

/** Returns the decoded text of a part of a URL; `undefined` if it is empty. */
function textOf(part: string): string | undefined {
  return decodeURIComponent(part) || undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
