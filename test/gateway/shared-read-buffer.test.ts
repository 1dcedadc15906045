import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { useSharedReadBuffer } from '../../src/engine/gateway/server/shared-read-buffer.ts';
import { turns } from '../support/pause.ts';
import { eventually } from '../support/site.ts';

it('connections share one read buffer, and a callback that returns false suspends reading', async () => {
  const buffers = new Set<ArrayBufferLike>();
  const texts: string[] = [];
  const sockets: Socket[] = [];
  let isAccepting = true;
  const server = createServer((socket) => {
    sockets.push(socket);
    useSharedReadBuffer(socket, (bytes) => {
      buffers.add(bytes.buffer);
      texts.push(bytes.toString());
      return isAccepting;
    });
    socket.resume();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  for (const [index, client] of clients.entries()) {
    client.write(`first of ${index}`);
    await eventually('the bytes are read', () => texts.length === index + 1);
  }
  expect(texts).toEqual(['first of 0', 'first of 1']);
  expect(buffers.size).toBe(1);
  isAccepting = false;
  clients[0]?.write('a');
  await eventually('the bytes are read', () => texts.length === 3);
  clients[0]?.write('b');
  await turns(10);
  expect(texts).toHaveLength(3);
  sockets[0]?.pause();
  sockets[0]?.resume();
  await eventually('the remaining bytes are read', () => texts.at(-1) === 'b');
  for (const socket of [...clients, ...sockets]) socket.destroy();
  server.close();
});
