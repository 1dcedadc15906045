import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../../loopback.ts';
import type { Admin, Manifest } from '../../manifest/manifest.generated.ts';
import { errorAt, type Path } from '../../problem/finding.ts';
import { requireSecretFromEnvironment, type TokensContext } from '../tokens/tokens-context.ts';
import { compileAddress, type ListenAddress } from './address.ts';
import { readCertificate } from './pem.ts';
import { compileTls } from './tls.ts';

/** A certificate with its key, and with `ca` the authorities by which clients are known. */
export interface AdminTls {
  /** The PEM texts. A function, so that whoever prints a plan does not print a key. */
  readonly pem: () => { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** Where operators ask, and who may: what is stated is asked for. */
export interface AdminSettings extends ListenAddress {
  /** Equal for equal definitions. Says nothing of the token. */
  readonly key: string;
  /** Whether a token that was shown is the one; `undefined`: none is asked for. */
  readonly acceptsToken: ((shown: string) => boolean) | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: AdminTls | undefined;
}

type AdminContext = Pick<TokensContext, 'readFile' | 'secrets' | 'findings'>;

/** Who reaches the operators' side sees upstreams, routes and how they are: other machines are asked who they are. */
export function compileAdmin(entry: NonNullable<Manifest['admin']>, context: AdminContext): AdminSettings {
  const { findings } = context;
  const { listen, token, tls }: Admin = typeof entry === 'string' ? { listen: entry } : entry;
  const path = typeof entry === 'string' ? ['admin'] : ['admin', 'listen'];
  const address = compileAddress(listen, path, findings);
  if (!isLoopback(address.host) && token === undefined && tls?.clientCa === undefined)
    findings.push(errorAt(path, 'admin-exposed', exposed(entry)));
  if (token !== undefined && requireSecretFromEnvironment(['admin', 'token'], context) && token.length < MIN_TOKEN) {
    const message = `this is short enough to be found by trying; set ${MIN_TOKEN} characters or more`;
    findings.push(errorAt(['admin', 'token'], 'admin-token', message));
  }
  const pem = tls && compileAdminTls(tls, context);
  return Object.freeze({
    ...address,
    key: digest(JSON.stringify([listen, token, pem?.()])).toString('hex'),
    acceptsToken: token === undefined ? undefined : admitting(token),
    tls: pem && Object.freeze({ pem }),
  });
}

const MIN_TOKEN = 16;

function exposed(entry: NonNullable<Manifest['admin']>): string {
  const token = "token: '${ADMIN_TOKEN}'";
  const meant = typeof entry === 'string' ? `{ listen: '${entry}', ${token} }` : token;
  return `other machines reach the operators' side here, and it asks nobody who they are; write ${meant}, or an address of this machine alone, such as 127.0.0.1:9901`;
}

function compileAdminTls(tls: NonNullable<Admin['tls']>, { readFile, findings }: AdminContext): AdminPem | undefined {
  const path: Path = ['admin', 'tls'];
  const pair = compileTls(tls, path, readFile, findings);
  const context = { readFile, rule: 'tls', findings };
  const ca = tls.clientCa === undefined ? undefined : readCertificate(tls.clientCa, [...path, 'clientCa'], context);
  if (pair === undefined) return undefined;
  const pem = { ...pair.pem(), ...(ca === undefined ? {} : { ca: ca.text }) };
  return () => pem;
}

type AdminPem = NonNullable<AdminSettings['tls']>['pem'];

/** In a time that says nothing of the token, its length neither. */
function admitting(token: string): (shown: string) => boolean {
  const expected = digest(token);
  return (shown) => timingSafeEqual(digest(shown), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
