import { expect, it } from 'vitest';
import { MemorySocket } from '../../src/prove/offline/memory-socket.ts';
import { manifest, startGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest } from '../support/raw.ts';
import { eventually, startSite } from '../support/site.ts';
import { startRawUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: large, method: GET, path: /large, respond: { body: '${'x'.repeat(65_000)}' }, access: public }
  - { id: protected, method: POST, path: /protected, upstream: up, access: protected }
  - { id: open, method: POST, path: /open, upstream: up, access: public }
`;

it.each([
  ['valid', 200],
  ['not valid', 401],
])('a request is over once it is refused, although its token, which is %s, is verified later', async (name, status) => {
  const site = await startSite(ROUTES);
  const { gateway, lines } = site.gateway;
  const valid = await site.issuer.token();
  const token = `Authorization: Bearer ${name === 'valid' ? valid : `${valid.slice(0, -4)}AAAA`}`;
  const [client, server] = MemorySocket.pair();
  gateway.acceptConnection(server);
  // The client reads nothing, and the next bytes have no room: the refusal waits.
  client.write(keepAliveHead('GET /large HTTP/1.1'));
  await eventually('the first response is written', () => lines.length === 1);
  client.write(`${keepAliveHead('POST /protected HTTP/1.1', token, 'Transfer-Encoding: chunked')}not a chunk\r\n`);
  // The token of both requests is verified once.
  const other = await sendRequest(site.port, head('POST /protected HTTP/1.1', token, 'Content-Length: 0'));
  let text = '';
  client.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  await eventually('the connection ends', () => client.readableEnded);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(other.status).toBe(status);
  expect(lines.at(-1)).toMatchObject({ status: 400, refusal: 'message_malformed' });
  // It was not forwarded.
  expect(lines.at(-1)).not.toHaveProperty('gatewayMs');
  client.destroy();
  await site.close();
});

it('a request is over once it is refused, although its upstream responds later', async () => {
  let respond = () => {};
  let isClosed = false;
  const upstream = await startRawUpstream((socket) => {
    socket.once('data', () => {
      respond = () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok');
    });
    socket.on('close', () => {
      isClosed = true;
    });
  });
  const { gateway, lines, close } = await startGateway(manifest(ROUTES, { up: upstream.url }));
  const [client, server] = MemorySocket.pair();
  gateway.acceptConnection(server);
  client.write(keepAliveHead('GET /large HTTP/1.1'));
  await eventually('the first response is written', () => lines.length === 1);
  const noResponse = respond;
  client.write(`${keepAliveHead('POST /open HTTP/1.1', 'Transfer-Encoding: chunked')}1\r\na\r\n`);
  await eventually('the upstream has the request', () => respond !== noResponse);
  client.write('not a chunk\r\n');
  respond();
  // The upstream exchange has ended before the client reads.
  await eventually('the connection to the upstream is closed', () => isClosed);
  let text = '';
  client.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  await eventually('the connection ends', () => client.readableEnded);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(lines.at(-1)).toMatchObject({ status: 400, refusal: 'message_malformed' });
  client.destroy();
  await close();
  await upstream.close();
});
