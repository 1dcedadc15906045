import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../dns/loopback.ts';
import type { Admin, Manifest } from '../manifest/manifest.generated.ts';
import { errorAt, type Path } from '../problem/finding.ts';
import { compileAddress } from './address.ts';
import { type CompileContext, checkSecret } from './compile-context.ts';
import { compileTls, readCertificate, type ServerTls } from './tls.ts';

/** The settings of the admin API. Callers must satisfy every one of `token` and `clientCa` that is set. */
export type AdminSettings = ReturnType<typeof compileAdmin>;

/** Compiles `admin`. The admin API shows upstreams, routes and their state, so callers on other machines must authenticate. */
export function compileAdmin(entry: NonNullable<Manifest['admin']>, context: CompileContext) {
  const { findings } = context;
  const { listen, token, tls }: Admin = typeof entry === 'string' ? { listen: entry } : entry;
  const path = adminListenPath(entry);
  const address = compileAddress(listen, path, findings);
  if (!isLoopback(address.host) && token === undefined && tls?.clientCa === undefined)
    findings.push(errorAt(path, 'admin-exposed', exposedMessage(entry)));
  if (token !== undefined)
    checkSecret(token, ['admin', 'token'], { rule: 'admin-token', noun: 'token', min: MIN_TOKEN }, context);
  const compiledTls = tls && compileAdminTls(tls, context);
  return Object.freeze({
    ...address,
    /** A hash of the definition. */
    key: digest(JSON.stringify([listen, token, compiledTls?.pem()])).toString('hex'),
    /** Returns true for the configured token; `undefined` if no token is required. */
    acceptsToken: token === undefined ? undefined : tokenCheck(token),
    /** `undefined` for plain HTTP. */
    tls: compiledTls,
  });
}

/** Returns the path of the address in the manifest. */
export function adminListenPath(entry: NonNullable<Manifest['admin']>): Path {
  return typeof entry === 'string' ? ['admin'] : ['admin', 'listen'];
}

const MIN_TOKEN = 16;

function exposedMessage(entry: NonNullable<Manifest['admin']>): string {
  const token = "token: '${ADMIN_TOKEN}'";
  const example = typeof entry === 'string' ? `{ listen: '${entry}', ${token} }` : token;
  return `other machines can reach the admin API here without authentication; write ${example}, or a loopback address such as 127.0.0.1:9901`;
}

function compileAdminTls(tls: NonNullable<Admin['tls']>, context: CompileContext): ServerTls | undefined {
  const path: Path = ['admin', 'tls'];
  const pair = compileTls(tls, path, context);
  const caContext = { ...context, rule: 'tls' };
  const ca = tls.clientCa === undefined ? undefined : readCertificate(tls.clientCa, [...path, 'clientCa'], caContext);
  if (pair === undefined) return undefined;
  const pem = { ...pair.pem(), ...(ca && { ca: ca.text }) };
  return Object.freeze({ pem: () => pem });
}

/** Compares digests in constant time, so that timing reveals neither the token nor its length. */
function tokenCheck(expected: string): (token: string) => boolean {
  const expectedDigest = digest(expected);
  return (token) => timingSafeEqual(digest(token), expectedDigest);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
