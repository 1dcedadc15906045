/**
 * The health check of the container image: exits with 0 if the gateway, or the process with the id of the argument, accepts and
 * closes a connection. It runs every few seconds, so it loads neither a library nor the manifest, and it needs no admin API.
 *
 *     node container-health.js [PID]
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';

type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string };

const CONTAINER_PID = '1';
const TIMEOUT_MS = 2_000;
/** The state of a listener in /proc/net/tcp, and the flags of one in /proc/net/unix. */
const LISTEN_STATE = '0A';
const LISTEN_FLAGS = '00010000';

const pid = process.argv[2] ?? CONTAINER_PID;
try {
  // With `docker run --init` the gateway is a child of process 1.
  const address = [pid, ...childrenOf(pid)].map(findListener).find((found) => found !== undefined);
  if (address === undefined) finish(1, `process ${pid} listens on no port and no socket`);
  else probe(address);
} catch (error) {
  finish(1, error instanceof Error ? error.message : String(error));
}

/** Closes a connection without a request, which the gateway neither logs nor counts, and waits until the gateway closes it too. */
function probe(address: SocketAddress): void {
  const name = 'path' in address ? address.path : `port ${address.port}`;
  const socket = connect({ ...address, allowHalfOpen: true, timeout: TIMEOUT_MS });
  socket.end();
  socket.resume();
  socket.on('end', () => finish(0, 'alive'));
  socket.on('timeout', () => finish(1, `no response from ${name} within ${TIMEOUT_MS / 1_000} s`));
  socket.on('error', ({ message }) => finish(1, message));
}

function finish(code: 0 | 1, message: string): void {
  process.stdout.write(`${message}\n`, () => process.exit(code));
}

function childrenOf(parent: string): string[] {
  try {
    return readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1').split(' ').filter(Boolean);
  } catch {
    // Some kernels do not list children.
    return [];
  }
}

/** Returns the address of the first listener that a process opened. */
function findListener(process: string): SocketAddress | undefined {
  const tcp = [...listenersIn(process, 'tcp'), ...listenersIn(process, 'tcp6')];
  const listeners = new Map<string, SocketAddress>([...tcp, ...unixListenersIn(process)]);
  const descriptors = readdirSync(`/proc/${process}/fd`).sort((one, other) => Number(one) - Number(other));
  for (const descriptor of descriptors) {
    const address = listeners.get(readSocket(`/proc/${process}/fd/${descriptor}`));
    if (address !== undefined) return address;
  }
  return undefined;
}

function readSocket(path: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? '';
  } catch {
    // The process has closed it.
    return '';
  }
}

/** Returns the listeners in the network namespace of a process, by the inode of their sockets. */
function listenersIn(process: string, protocol: 'tcp' | 'tcp6'): [inode: string, SocketAddress][] {
  return rowsOf(process, protocol)
    .filter((columns) => columns[3] === LISTEN_STATE)
    .map((columns) => [columns[9] ?? '', parseAddress(columns[1] ?? '')]);
}

/** The kernel shows the first name of a socket: `/run/.gateway.sock-XXXXXX/s` of `/run/gateway.sock`. */
function unixListenersIn(process: string): [inode: string, SocketAddress][] {
  return rowsOf(process, 'unix')
    .filter((columns) => columns[3] === LISTEN_FLAGS)
    .map((columns) => [columns[6] ?? '', { path: (columns[7] ?? '').replace(/\/\.([^/]*)-[^/]{6}\/s$/, '/$1') }]);
}

function rowsOf(process: string, protocol: string): string[][] {
  const rows = readFileSync(`/proc/${process}/net/${protocol}`, 'latin1').trim().split('\n').slice(1);
  return rows.map((row) => row.trim().split(/\s+/));
}

/** Parses an address of /proc/net/tcp: hexadecimal, in words of four bytes, the lowest byte of each first. */
function parseAddress(text: string): SocketAddress {
  const [words = '', port = ''] = text.split(':');
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const isAny = bytes.every((byte) => byte === '00');
  const isIpv4 = bytes.length === 4;
  const ipv4 = isAny ? '127.0.0.1' : bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const ipv6 = isAny ? '::1' : (bytes.join('').match(/.{4}/g) ?? []).join(':');
  return { host: isIpv4 ? ipv4 : ipv6, port: Number.parseInt(port, 16) };
}
