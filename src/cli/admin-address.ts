import { keepOutside } from '../manifest/files.ts';
import { readManifest } from '../manifest/read-manifest.ts';
import type { Source, World } from '../manifest/source.ts';
import { compileAddress } from '../plan/address.ts';
import { worldOf } from '../world.ts';
import { readSource } from './manifest-file.ts';
import { WorkError } from './terminal.ts';

/**
 * Where the operators' side of a manifest is asked on this machine: an address without a path. What else is wrong with
 * the file does not matter here: the last good manifest serves on, and no probe may end it for a mistake that was saved.
 */
export function adminAddress(file: string, env: World['env']): string {
  const source = readSource(file);
  const world = worldOf(file, env);
  const admin = adminIn(aloneIn(source), world) ?? adminIn(source, world);
  if (admin === undefined) throw new WorkError(`${file}: no "admin" can be read; write admin: 127.0.0.1:9901`);
  const { listen, tls } = typeof admin === 'string' ? { listen: admin, tls: undefined } : admin;
  const { host, port } = compileAddress(listen, ['admin'], []);
  if (port === 0) throw new WorkError(`${file}: "admin" has port 0, which is another one at each start; write a port`);
  const asked = ANY[host] ?? host;
  return `${tls === undefined ? 'http' : 'https'}://${asked.includes(':') ? `[${asked}]` : asked}:${port}`;
}

/** A listener on all addresses is asked on loopback. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** `undefined` where there is none, or a faulty one. */
function adminIn(source: Source | undefined, world: World) {
  if (source === undefined) return undefined;
  const { form, findings } = readManifest(source, keepOutside(world).world);
  const isFaulty = findings.some(({ where }) => 'path' in where && where.path[0] === 'admin');
  return isFaulty ? undefined : form?.manifest.admin;
}

/** The key alone: who asks every few seconds does not read ten thousand routes each time. */
function aloneIn({ path, text }: Source): Source | undefined {
  const [found] = /^admin:.*\n?(?:(?:[ \t\r#].*)?\n)*(?:[ \t#].*)?/m.exec(text) ?? [];
  return found === undefined ? undefined : { path, text: `${found}\nversion: 1\n` };
}
