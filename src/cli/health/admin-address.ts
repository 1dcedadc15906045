import { trackDependencies } from '../../manifest/dependencies.ts';
import { createFileEnvironment } from '../../manifest/file-environment.ts';
import { checkManifest, readManifest } from '../../manifest/read-manifest.ts';
import type { AddressOverrides, Environment, Source } from '../../manifest/source.ts';
import { compileAddress } from '../../plan/settings/address.ts';
import { readSource } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';

/**
 * Returns the base URL of a manifest's admin API on this machine. Ignores errors in the rest of the file: the gateway keeps
 * serving the last good manifest, and a probe must not kill it because of a mistake that somebody saved.
 */
export function adminAddress(file: string, env: Environment['env'], overrides: AddressOverrides): string {
  const source = readSource(file);
  const environment = createFileEnvironment(file, env, overrides);
  const admin = readAdminKey(extractAdminSection(source), environment) ?? readAdminKey(source, environment);
  if (admin === undefined)
    throw new CommandError(`${file}: "admin" is missing or invalid; write admin: 127.0.0.1:9901, or use --admin`);
  const { listen, tls } = typeof admin === 'string' ? { listen: admin, tls: undefined } : admin;
  const { host, port } = compileAddress(listen, ['admin'], []);
  if (port === 0)
    throw new CommandError(`${file}: "admin" has port 0, which is a different port at each start; write a fixed port`);
  const probedHost = LOOPBACK_FOR[host] ?? host;
  return `${tls === undefined ? 'http' : 'https'}://${probedHost.includes(':') ? `[${probedHost}]` : probedHost}:${port}`;
}

/** A listener on all addresses is probed on loopback. */
const LOOPBACK_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the value of `admin`, or `undefined` if it is missing or invalid. */
function readAdminKey(source: Source | undefined, environment: Environment) {
  if (source === undefined) return undefined;
  const tracked = trackDependencies(environment).environment;
  const checked = checkManifest(readManifest(source, tracked), environment);
  const isInvalid = checked?.findings.some(({ location }) => 'path' in location && location.path[0] === 'admin');
  return isInvalid ? undefined : checked?.manifest.admin;
}

/** Returns a manifest with only the `admin` key: a probe every few seconds must not parse ten thousand routes each time. */
function extractAdminSection({ path, text }: Source): Source | undefined {
  const [section] = /^admin:.*\n?(?:(?:[ \t\r#].*)?\n)*(?:[ \t#].*)?/m.exec(text) ?? [];
  return section === undefined ? undefined : { path, text: `${section}\nversion: 1\n` };
}
