import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection; its errors do not end the test. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes on a connection of their own and reads until the other side closes. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** A request head with `Connection: close`. */
export function head(line: string, ...headers: string[]): string {
  return [line, 'Host: gateway.test', 'Connection: close', ...headers, '', ''].join('\r\n');
}
