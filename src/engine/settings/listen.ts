import type { Listener, Manifest, Server } from '../manifest/manifest.generated.ts';
import { type Finding, quoteFreeErrorAt } from '../problem/finding.ts';
import { compileAddress, findAddressError } from './address.ts';
import { socketPathError, socketPathOf } from './socket-path.ts';

/** The length of what a new socket has in its path until it has its permissions: `/run/.gateway.sock-XXXXXX/s`. */
const TEMPORARY_LENGTH = '.-XXXXXX/s'.length;
const DEFAULT_MODE = '0600';

/** Returns `listen` as a map, with the mode of a unix socket. */
export function listenerOf(listen: Manifest['listen']): Listener {
  const listener = typeof listen === 'string' ? { address: listen } : listen;
  return socketPathOf(listener.address) === undefined ? listener : { mode: DEFAULT_MODE, ...listener };
}

/** Compiles `listen`. A unix socket has no port, and only this machine reaches it. @param server `undefined` if it is invalid */
export function compileListen(listen: Manifest['listen'], server: Server | undefined, findings: Finding[]) {
  const { address, mode = '' } = listenerOf(listen);
  const path = typeof listen === 'string' ? ['listen'] : ['listen', 'address'];
  const file = socketPathOf(address);
  if (file === undefined) {
    if (mode !== '') {
      const message = 'only a unix socket has a mode; remove "mode", or write unix: and a path in "address"';
      findings.push(quoteFreeErrorAt(['listen', 'mode'], 'listen-socket', message));
    }
    return compileAddress(address, path, findings);
  }
  const reason = socketPathError(file, TEMPORARY_LENGTH);
  if (reason !== undefined)
    findings.push(quoteFreeErrorAt(path, 'address', `${reason}; write for example unix:/run/gateway.sock`));
  checkServer(server, findings);
  return { host: 'localhost', port: 0, socket: { path: file, mode: Number.parseInt(mode, 8) } };
}

/** Reports settings of the server that a unix socket cannot have. */
function checkServer(server: Server | undefined, findings: Finding[]): void {
  const report = (key: keyof Server, message: string) => {
    const related = { path: ['listen'], message: 'the unix socket' };
    findings.push({ ...quoteFreeErrorAt(['server', key], 'listen-socket', message), related });
  };
  if (server?.tls !== undefined)
    report('tls', 'a unix socket has no TLS; remove "tls", or listen on a host and a port');
  // A number from an environment variable is a string.
  if (server !== undefined && String(server.workers) !== '1')
    report('workers', 'one worker listens on a unix socket; write 1, or listen on a host and a port');
}

/** Returns why a text is not an address for clients, and an example; `undefined` if it is one. */
export function findListenError(text: string): string | undefined {
  if (socketPathOf(text) === undefined) return findAddressError(text);
  const findings: Finding[] = [];
  compileListen(text, undefined, findings);
  return findings[0]?.message;
}
