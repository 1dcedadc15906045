import { afterEach, describe, expect, it } from 'vitest';
import { RequestQueue } from '../../src/engine/gateway/upstream/request-queue.ts';
import { WaitingRequests, waitingMemory } from '../../src/engine/http1/connection-limit.ts';
import { privateParts } from '../../src/engine/shared-memory/buffer-parts.ts';
import { SINGLE_WORKER } from '../../src/engine/shared-memory/worker-context.ts';
import { PUBLIC_ALL, startGateway } from '../support/gateway.ts';
import { keepAliveHead, type RawResponse, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstreamServer } from '../support/upstream.ts';

const waiter = (name: string) => ({ client: name[0] ?? '', name });
type Waiter = ReturnType<typeof waiter>;

/** Creates a queue without a time limit. */
function createQueue(size: number) {
  const memory = privateParts((parts) => waitingMemory(parts, SINGLE_WORKER.count));
  const limits = { size, timeoutMs: 0, onTimeout: () => undefined };
  return new RequestQueue<Waiter>(limits, new WaitingRequests(memory, SINGLE_WORKER));
}

function queueOf(size: number, ...names: string[]) {
  const queue = createQueue(size);
  const removed = names.map((name) => queue.add(waiter(name))?.name);
  return { queue, removed };
}

function order(queue: RequestQueue<Waiter>): string[] {
  const names = [];
  for (let next = queue.dequeue(); next !== undefined; next = queue.dequeue()) names.push(next.name);
  return names;
}

describe('a request queue', () => {
  it('serves clients in turn and the requests of each client in order', () => {
    const { queue } = queueOf(10, 'a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1');
    expect([queue.size, order(queue), queue.size]).toEqual([7, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'], 0]);
  });

  it('accepts requests of a single client up to the limit', () => {
    const { queue, removed } = queueOf(3, 'a1', 'a2', 'a3', 'a4');
    expect([removed.at(-1), order(queue)]).toEqual(['a4', ['a1', 'a2', 'a3']]);
  });

  it('removes a request of the client with the most requests to admit another client', () => {
    const { queue, removed } = queueOf(6, 'a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'b3', 'c2', 'd1', 'd2', 'a5');
    expect(removed.slice(6)).toEqual(['a4', 'b3', 'a3', 'a2', 'd2', 'a5']);
    expect(order(queue)).toEqual(['a1', 'b1', 'c1', 'd1', 'b2', 'c2']);
  });

  it('accepts nothing with a limit of 0', () => {
    expect(queueOf(0, 'a1').removed).toEqual(['a1']);
  });

  it('removes a request once', () => {
    const { queue } = queueOf(2);
    const [one, two] = [waiter('a1'), waiter('b1')];
    for (const each of [one, two]) queue.add(each);
    queue.remove(one.client, one);
    queue.remove(one.client, one);
    expect([queue.size, order(queue)]).toEqual([1, ['b1']]);
  });

  it('stays within its limit through random operations', () => {
    const queue = createQueue(50);
    const queued = new Set<Waiter>();
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 20_000; step += 1) {
      const next = waiter(`${'abcdefgh'[Math.min(random(8), random(8), random(8))]}${step}`);
      const operation = random(10);
      if (operation < 6) {
        queued.add(next);
        const removed = queue.add(next);
        if (removed !== undefined) queued.delete(removed);
      } else if (operation < 8) {
        const dequeued = queue.dequeue();
        if (dequeued !== undefined) expect(queued.delete(dequeued)).toBe(true);
      } else {
        const [first] = queued;
        if (first === undefined) continue;
        queued.delete(first);
        queue.remove(first.client, first);
      }
      expect(queue.size).toBe(queued.size);
      expect(queue.size).toBeLessThanOrEqual(50);
    }
  });
});

describe('requests that wait for an upstream', () => {
  const closing: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  it('are all refused at once when the last endpoint becomes unavailable', async () => {
    let reset: (() => void) | undefined;
    const upstream = await startUpstreamServer((request) => {
      reset = () => void request.socket.destroy();
    });
    const gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams:
  up:
    url: '${upstream.url}'
    connections: { limit: 1 }
    timeouts: { connect: 1h }
    breaker: { failures: 1, pause: 1h }
routes:
${PUBLIC_ALL}`);
    closing.push(upstream.close, gateway.close);
    const responses: Promise<RawResponse>[] = [];
    for (let index = 0; index < 4; index += 1) {
      const wire = await Wire.open(gateway.port);
      closing.push(async () => wire.end());
      wire.write(keepAliveHead('GET /x HTTP/1.1'));
      responses.push(wire.response());
      await eventually('the request is sent or waits', () =>
        index === 0 ? reset !== undefined : gateway.gateway.upstreams[0]?.waiting === index,
      );
    }
    reset?.();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([502, 503, 503, 503]);
    expect(gateway.gateway.upstreams[0]?.waiting).toBe(0);
  });

  it('are sent to an endpoint that becomes healthy', async () => {
    let isHealthy = false;
    const hanging = await startUpstreamServer((request, response) => {
      if (request.url === '/health') response.end();
    });
    const recovering = await startUpstreamServer((_request, response) => {
      response.statusCode = isHealthy ? 200 : 500;
      response.end('ok');
    });
    const gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams:
  up:
    urls: ['${hanging.url}', '${recovering.url}']
    connections: { limit: 1 }
    timeouts: { connect: 1h, response: 1h }
    health: { path: /health, interval: 20ms, unhealthy: 1, healthy: 1 }
routes:
${PUBLIC_ALL}`);
    closing.push(hanging.close, recovering.close, gateway.close);
    await eventually(
      'one endpoint is unhealthy',
      () => gateway.gateway.upstreams[0]?.endpoints[1]?.health === 'unhealthy',
    );
    const [first, second] = [await Wire.open(gateway.port), await Wire.open(gateway.port)];
    closing.push(async () => first.end());
    first.write(keepAliveHead('GET /x HTTP/1.1'));
    await eventually('the other endpoint is busy', () => gateway.gateway.upstreams[0]?.endpoints[0]?.busy === 1);
    second.write(keepAliveHead('GET /x HTTP/1.1'));
    await eventually('a request waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    isHealthy = true;
    expect((await second.response()).status).toBe(200);
    second.end();
  });

  it('are served in turn for each client that the trusted proxy names, and a greedy client is refused', async () => {
    const pending: { url: string; respond(): void }[] = [];
    const upstream = await startUpstreamServer((request, response) => {
      pending.push({ url: request.url ?? '', respond: () => void response.end('ok') });
    });
    const gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1] }
upstreams:
  up: { url: '${upstream.url}', connections: { limit: 1, queue: 6 } }
routes:
${PUBLIC_ALL}`);
    closing.push(upstream.close, gateway.close);
    const responses: Record<string, Promise<RawResponse>> = {};
    const send = async (path: string, client: string) => {
      const wire = await Wire.open(gateway.port);
      closing.push(async () => wire.end());
      const waiting = gateway.gateway.upstreams[0]?.waiting ?? 0;
      const refused = gateway.gateway.metrics.refusals.get('upstream_busy') ?? 0;
      wire.write(keepAliveHead(`GET ${path} HTTP/1.1`, `X-Forwarded-For: ${client}`));
      responses[path] = wire.response();
      await eventually(
        `${path} waits`,
        () =>
          pending.length === 1 &&
          (path === '/first' ||
            gateway.gateway.upstreams[0]?.waiting === waiting + 1 ||
            gateway.gateway.metrics.refusals.get('upstream_busy') === refused + 1),
      );
    };
    await send('/first', '192.0.2.9');
    for (let index = 1; index <= 6; index += 1) await send(`/a${index}`, `2001:db8:1:2::${index}`);
    await send('/b1', '192.0.2.1');
    await send('/b2', '192.0.2.1');
    await send('/c1', '2001:db8:1:3::1');
    await send('/a7', '2001:db8:1:2::7');
    const order = [];
    for (let index = 0; index < 7; index += 1) {
      await eventually('the next request is served', () => pending.length > index);
      order.push(pending[index]?.url);
      pending[index]?.respond();
    }
    expect(order).toEqual(['/first', '/a1', '/b1', '/c1', '/a2', '/b2', '/a3']);
    const all = await Promise.all(Object.values(responses));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(7);
    for (const path of ['/a4', '/a5', '/a6', '/a7']) expect((await responses[path])?.status).toBe(503);
    const reasons = gateway.lines.filter(({ status }) => status === 503).map(({ reason }) => reason);
    expect(reasons).toEqual(['queue_share', 'queue_share', 'queue_share', 'queue_full']);
  });

  const startUploads = async (connect: string) => {
    let uploads = 0;
    const upstream = await startUpstreamServer((request, response) => {
      if (request.method === 'POST') uploads += 1;
      else response.end('ok');
    });
    const gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
server: { trustedProxies: [127.0.0.1] }
upstreams:
  up: { url: '${upstream.url}', connections: { limit: 4 }, timeouts: { connect: ${connect} } }
routes:
${PUBLIC_ALL}`);
    closing.push(upstream.close, gateway.close);
    const send = async (line: string, client: string, ...more: string[]) => {
      const wire = await Wire.open(gateway.port);
      closing.push(async () => wire.end());
      wire.write(keepAliveHead(line, `X-Forwarded-For: ${client}`, ...more));
      return wire;
    };
    const upload = async (client: string) => {
      const wire = await send('POST /x HTTP/1.1', client, 'Content-Length: 9');
      wire.write('a');
      return wire;
    };
    const hold = async (...clients: string[]) => {
      const wires: Wire[] = [];
      for (const client of clients) {
        wires.push(await upload(client));
        await eventually('the upstream has the upload', () => uploads === wires.length);
      }
      return wires;
    };
    return { gateway, send, upload, hold };
  };

  it('get the connection of the oldest upload of a client that has more than half of them', async () => {
    const { gateway, send, hold } = await startUploads('1500ms');
    const wires = await hold('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1');
    // Waits until the uploads are as old as a request may wait.
    const first = await send('GET /x HTTP/1.1', '192.0.2.2');
    expect([(await first.response()).status, (await wires[0]?.response())?.status]).toEqual([200, 503]);
    wires[0]?.end();
    await eventually('the refusal is logged', () => gateway.lines.length === 2);
    expect(gateway.lines[1]).toMatchObject({ refusal: 'upstream_busy', reason: 'connection_share' });
    expect(gateway.gateway.upstreams[0]?.endpoints[0]?.busy).toBe(3);
  });

  it('do not wait for the next upload of that client, whose turn is before theirs', async () => {
    const { gateway, send, upload, hold } = await startUploads('2s');
    const wires = await hold('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1');
    // A client ends no upload of its own.
    expect((await (await upload('192.0.2.1')).response()).status).toBe(503);
    await upload('192.0.2.1');
    await eventually('another upload waits', () => gateway.gateway.upstreams[0]?.waiting === 1);
    const first = await send('GET /x HTTP/1.1', '192.0.2.2');
    expect((await first.response()).status).toBe(200);
    expect(await Promise.all(wires.slice(0, 2).map(async (wire) => (await wire.response()).status))).toEqual([
      503, 503,
    ]);
  });

  it('do not end uploads of their own client, or of one that has half of the connections', async () => {
    const { gateway, send, hold } = await startUploads('100ms');
    await hold('192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2');
    for (const client of ['192.0.2.1', '192.0.2.3'])
      expect((await (await send('GET /x HTTP/1.1', client)).response()).status).toBe(503);
    expect(gateway.lines.map(({ reason }) => reason)).toEqual(['queue_too_slow', 'queue_too_slow']);
  });
});
