import { createHash } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { keepAliveHead, Wire } from '../../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../../support/upstream.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const ACCEPTED = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${ACCEPT}\r\n\r\n`;
const WRONG = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';

let upstream: WireUpstream;
let gateway: TestGateway;
const wires: Wire[] = [];

afterEach(async () => {
  for (const wire of wires.splice(0)) wire.end();
  await gateway.close();
  await upstream.close();
});

async function start(count: string, respond: () => string): Promise<void> {
  upstream = await startWireUpstream(respond);
  const routes = `  - { id: events, method: GET, path: /events, upstream: up, access: public, websocket: true, rateLimits: [events] }
rateLimits:
  events: { key: client, allow: 3 per 24h, count: ${count} }
`;
  gateway = await startGateway(manifest(routes, { up: upstream.url }));
}

/** Sends a handshake on a new connection, which stays open. */
async function shakeHands(): Promise<number> {
  const wire = await Wire.open(gateway.port);
  wires.push(wire);
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${KEY}`,
  ];
  wire.write(keepAliveHead('GET /events HTTP/1.1', ...headers));
  return (await wire.message()).status;
}

async function shakeHandsTimes(times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) statuses.push(await shakeHands());
  return statuses;
}

it('counts each handshake once, however long the WebSocket lives', async () => {
  await start('requests', () => ACCEPTED);
  expect(await shakeHandsTimes(5)).toEqual([101, 101, 101, 429, 429]);
});

it('takes successful handshakes back from a limit of failures', async () => {
  let response = ACCEPTED;
  await start('failures', () => response);
  expect(await shakeHandsTimes(6)).toEqual([101, 101, 101, 101, 101, 101]);
  response = WRONG;
  expect(await shakeHandsTimes(5)).toEqual([401, 401, 401, 429, 429]);
  expect(gateway.gateway.rateLimiter.counts.get('events')).toMatchObject({ allowed: 9, released: 6, refused: 2 });
});
