import { hash } from 'node:crypto';
import { attempt } from '../attempt.ts';
import type { Manifest, Redis, Store as StoreEntry } from '../manifest/manifest.generated.ts';
import { timerMs } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { type CompileContext, checkSecret, requireSecretFromEnvironment } from '../settings/compile-context.ts';
import { readCertificate } from '../settings/tls.ts';

/** A compiled store: counters that several gateways share. */
export type CounterStore = NonNullable<ReturnType<typeof compileStore>>;

/** The addresses and credentials of Redis. */
export type RedisSettings = NonNullable<ReturnType<typeof compileRedis>>;

/** Stores by id; `undefined` for one with errors. */
export type Stores = ReadonlyMap<string, CounterStore | undefined>;

/** A shorter secret could be guessed from the hashes of known addresses. */
const MIN_SECRET = 16;

export function compileStores(entries: Manifest['stores'], context: CompileContext): Stores {
  return new Map(Object.entries(entries).map(([id, entry]) => [id, compileStore(id, entry, context)]));
}

function compileStore(id: string, entry: StoreEntry, context: CompileContext) {
  const path = ['stores', id];
  const { secret } = entry;
  checkSecret(secret, [...path, 'secret'], { rule: 'store-secret', min: MIN_SECRET }, context);
  const redis = compileRedis(entry.redis, [...path, 'redis'], context);
  if (redis === undefined) return undefined;
  const { timeout, onFailure } = entry;
  return Object.freeze({
    id,
    /** A hash, equal for equal definitions. A reload keeps the connections of stores with an equal key. */
    key: hash('sha256', JSON.stringify([id, redis, secret, timeout, onFailure])),
    /** A function, so that a printed plan contains no password. */
    redis: () => redis,
    /** The key of the HMAC that replaces values before they leave the process. A function for the same reason. */
    secret: () => secret,
    /** The time limit of a decision. */
    timeoutMs: timerMs(timeout),
    onFailure,
  });
}

const RULE = 'store-redis';
const KINDS = { url: 'server', sentinels: 'sentinel', cluster: 'cluster' } as const;

function compileRedis(entry: string | Redis, path: Path, context: CompileContext) {
  const settings: Redis = typeof entry === 'string' ? { url: entry } : entry;
  const [key, other] = (['url', 'sentinels', 'cluster'] as const).filter((each) => settings[each] !== undefined);
  if (key === undefined || other !== undefined) {
    const message = 'write exactly one of "url", "sentinels" and "cluster"';
    context.findings.push(quoteFreeErrorAt(path, RULE, message));
    return undefined;
  }
  const servers = parseRedisUrls(settings[key] ?? [], typeof entry === 'string' ? path : [...path, key], context);
  const [first] = servers ?? [];
  if (settings.password !== undefined) requireSecretFromEnvironment([...path, 'password'], context);
  if (servers === undefined || first === undefined) return undefined;
  checkCombination(settings, first, path, context.findings);
  const caContext = { ...context, rule: RULE };
  const file = first.protocol === 'rediss:' ? settings.ca : undefined;
  const ca = file === undefined ? undefined : readCertificate(file, [...path, 'ca'], caContext);
  const user = { username: textOf(first.username), password: textOf(first.password) };
  return {
    kind: KINDS[key],
    /** The URLs of the server, of the Sentinel servers, or of nodes of the cluster, without credentials. */
    urls: servers.map(({ protocol, host }) => `${protocol}//${host}`) as readonly string[],
    /** The name of the primary, for Sentinel. */
    name: settings.name,
    database: databaseOf(first),
    username: settings.username ?? user.username,
    password: settings.password ?? user.password,
    /** The user of the Sentinel servers; `undefined` if they need none. */
    sentinelUser: key === 'sentinels' && user.password !== undefined ? user : undefined,
    /** The certificate authorities in PEM; `undefined`: those of Node. */
    ca: ca?.text,
  };
}

/** Reports settings that do not belong together. */
function checkCombination({ sentinels, cluster, name, ca }: Redis, first: URL, path: Path, findings: Finding[]): void {
  const report = (message: string, key?: string) =>
    findings.push(key === undefined ? errorAt(path, RULE, message) : errorAtKey([...path, key], RULE, message));
  if (sentinels !== undefined && name === undefined)
    report('the Sentinel servers need the name of the primary; add name: and the name that they use');
  if (sentinels === undefined && name !== undefined) report('"name" is for "sentinels" only; remove it', 'name');
  if (ca !== undefined && first.protocol !== 'rediss:')
    report('"ca" has no effect without TLS; write rediss:// URLs, or remove "ca"', 'ca');
  const message = 'a Redis Cluster has only the database 0; remove the number from the URLs';
  if (cluster !== undefined && databaseOf(first) !== 0) findings.push(errorAt([...path, 'cluster'], RULE, message));
}

/** Parses the URLs of one store. Reports those that are not valid or differ in more than their address. */
function parseRedisUrls(urls: string | readonly string[], path: Path, context: CompileContext) {
  const isList = typeof urls !== 'string';
  const parsed = [urls].flat().map((url, index) => parseRedisUrl(url, isList ? [...path, index] : path, context));
  const servers = parsed.filter((url) => url !== undefined);
  if (servers.length < parsed.length) return undefined;
  if (new Set(servers.map(withoutAddress)).size === 1) return servers;
  const message = 'these URLs must have the same scheme, user, password and database number';
  context.findings.push(quoteFreeErrorAt(path, RULE, message));
  return undefined;
}

/** Returns the parts of a URL that all servers of a store share. */
function withoutAddress(url: URL): string {
  return JSON.stringify([url.protocol, url.username, url.password, databaseOf(url)]);
}

function databaseOf({ pathname }: URL): number {
  return Number(pathname.slice(1));
}

/** Parses the URL of a Redis server. Reports one that is not valid, and a password in the file. */
function parseRedisUrl(text: string, path: Path, context: CompileContext): URL | undefined {
  const url = URL.parse(text);
  const mistake = mistakeIn(url);
  if (mistake !== undefined) {
    const message = `${mistake}; write for example redis://127.0.0.1:6379 or rediss://host:6379/0`;
    context.findings.push(quoteFreeErrorAt(path, RULE, message));
    return undefined;
  }
  if (url?.password) requireSecretFromEnvironment(path, context);
  return url ?? undefined;
}

function mistakeIn(url: URL | null): string | undefined {
  const isDecodable = attempt(() => decodeURIComponent(`${url?.username}${url?.password}`)) !== undefined;
  if (url === null || url.hostname === '' || !isDecodable) return 'this is not the URL of a Redis server';
  if (!/^(?:\/\d{0,4})?$/.test(url.pathname)) return 'the path of a Redis URL must be a database number';
  return url.search + url.hash === '' ? undefined : 'a Redis URL has no query and no fragment';
}

/** Returns the decoded text of a part of a URL; `undefined` if it is empty. */
function textOf(part: string): string | undefined {
  return decodeURIComponent(part) || undefined;
}
