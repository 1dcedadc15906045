import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** The interface of all connections of a warm-up. */
export const WARM_UP_HOST = '127.0.0.1';

const RESPONSE = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Content-Length: 2',
  'Date: Thu, 01 Jan 2026 00:00:00 GMT',
  'Vary: Accept-Language',
  '',
  '{}',
].join('\r\n');

export interface WarmUpUpstream {
  readonly url: string;
  /** Accepts no further connections. */
  close(): void;
}

/** Starts an upstream that sends the same response to each read. */
export async function startWarmUpUpstream(): Promise<WarmUpUpstream> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write(RESPONSE));
  });
  server.listen(0, WARM_UP_HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://${WARM_UP_HOST}:${port}`, close: () => void server.close() };
}
