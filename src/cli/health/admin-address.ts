import { trackDependencies } from '../../manifest/dependencies.ts';
import { createFileEnvironment } from '../../manifest/file-environment.ts';
import { checkManifest, readManifest } from '../../manifest/read-manifest.ts';
import type { Environment, Source } from '../../manifest/source.ts';
import { compileAddress } from '../../plan/settings/address.ts';
import { readSource } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';

/**
 * Where the operators' side of a manifest is asked on this machine: an address without a path. What else is wrong with
 * the file does not matter here: the last good manifest serves on, and no probe may end it for a mistake that was saved.
 */
export function adminAddress(file: string, env: Environment['env']): string {
  const source = readSource(file);
  const world = createFileEnvironment(file, env);
  const admin = readAdminKey(extractAdminSection(source), world) ?? readAdminKey(source, world);
  if (admin === undefined) throw new CommandError(`${file}: no "admin" can be read; write admin: 127.0.0.1:9901`);
  const { listen, tls } = typeof admin === 'string' ? { listen: admin, tls: undefined } : admin;
  const { host, port } = compileAddress(listen, ['admin'], []);
  if (port === 0)
    throw new CommandError(`${file}: "admin" has port 0, which is another one at each start; write a port`);
  const asked = LOOPBACK_FOR[host] ?? host;
  return `${tls === undefined ? 'http' : 'https'}://${asked.includes(':') ? `[${asked}]` : asked}:${port}`;
}

/** A listener on all addresses is asked on loopback. */
const LOOPBACK_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns `undefined` if the manifest has no valid `admin`. */
function readAdminKey(source: Source | undefined, world: Environment) {
  if (source === undefined) return undefined;
  const checked = checkManifest(readManifest(source, trackDependencies(world).environment), world.env);
  const isInvalid = checked?.findings.some(({ location }) => 'path' in location && location.path[0] === 'admin');
  return isInvalid ? undefined : checked?.manifest.admin;
}

/** The key alone: who asks every few seconds does not read ten thousand routes each time. */
function extractAdminSection({ path, text }: Source): Source | undefined {
  const [found] = /^admin:.*\n?(?:(?:[ \t\r#].*)?\n)*(?:[ \t#].*)?/m.exec(text) ?? [];
  return found === undefined ? undefined : { path, text: `${found}\nversion: 1\n` };
}
