import { trackDependencies } from '../engine/manifest/dependencies.ts';
import type { Admin } from '../engine/manifest/manifest.generated.ts';
import { checkManifest, readManifest } from '../engine/manifest/read-manifest.ts';
import {
  type AddressOverrides,
  createFileEnvironment,
  type Environment,
  type Source,
} from '../engine/manifest/source.ts';
import { compileAddress } from '../engine/settings/address.ts';
import { readSource } from './manifest-file.ts';
import { CommandError } from './terminal.ts';

/**
 * Reads the address and the credentials of a manifest's admin API, as a client on this machine reaches it. Ignores errors in the rest of
 * the file: the gateway keeps serving the last good manifest. `option` is the one that replaces the address.
 */
export function readLocalAdmin(file: string, env: Environment['env'], overrides: AddressOverrides, option: string) {
  const source = readSource(file);
  const environment = createFileEnvironment(file, env, overrides);
  const admin = readAdminKey(extractAdminSection(source), environment) ?? readAdminKey(source, environment);
  if (admin === undefined)
    throw new CommandError(`${file}: "admin" is missing or invalid; write admin: 127.0.0.1:9901, or use ${option}`);
  const { listen, token, tls }: Admin = typeof admin === 'string' ? { listen: admin } : admin;
  const { host, port } = compileAddress(listen, ['admin'], []);
  if (port === 0)
    throw new CommandError(`${file}: "admin" has port 0, which is a different port at each start; write a fixed port`);
  const localHost = LOOPBACK_FOR[host] ?? host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${localHost.includes(':') ? `[${localHost}]` : localHost}:${port}`,
    token,
    /** Returns the certificate of the listener as PEM. */
    certificate: tls && (() => environment.readFile(tls.certificate)),
  };
}

/** A listener on all addresses is reached on loopback. */
const LOOPBACK_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the value of `admin`, or `undefined` if it is missing or invalid. */
function readAdminKey(source: Source | undefined, environment: Environment) {
  if (source === undefined) return undefined;
  const tracked = trackDependencies(environment).environment;
  const checked = checkManifest(readManifest(source, tracked), environment);
  const isInvalid = checked?.findings.some(({ location }) => 'path' in location && location.path[0] === 'admin');
  const admin = isInvalid ? undefined : checked?.manifest.admin;
  const isUnknown = checked?.secrets.some(({ path, template }) => path[0] === 'admin' && template.includes('${file:'));
  if (!isUnknown || typeof admin !== 'object') return admin;
  // Only the gateway reads secret files.
  const { token: _token, ...rest } = admin;
  return rest;
}

/** Returns a manifest with only the `admin` key: a probe every few seconds must not parse ten thousand routes each time. */
function extractAdminSection({ path, text }: Source): Source | undefined {
  const [section] = /^admin:.*\n?(?:(?:[ \t\r#].*)?\n)*(?:[ \t#].*)?/m.exec(text) ?? [];
  return section === undefined ? undefined : { path, text: `${section}\nversion: 1\n` };
}
