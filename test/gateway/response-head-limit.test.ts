import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(({ line }) => {
    const size = Number(line.split(' ')[1]?.split('?')[1] ?? 60_000);
    return `HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(size)}\r\nContent-Length: 2\r\n\r\nok`;
  });
  const entry = (limits: string) => `{ url: '${upstream.url}', health: { path: /health, interval: 1s }${limits} }`;
  gateway = await startGateway(`version: 1
listen: 127.0.0.1:0
upstreams:
  plain: { url: '${upstream.url}' }
  long: ${entry(', limits: { responseHeadBytes: 64KB }')}
routes:
  - { id: plain, method: GET, path: /plain, upstream: plain, access: public }
  - { id: long, method: GET, path: /long, upstream: long, access: public }
`);
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('limits.responseHeadBytes', () => {
  it.each([
    ['/plain?15000', 200],
    ['/plain?17000', 502],
    ['/long?60000', 200],
    ['/long?66000', 502],
  ])('of %s gives %i', async (target, status) => {
    const response = await sendRequest(gateway.port, head(`GET ${target} HTTP/1.1`));
    expect(response.status).toBe(status);
    await eventually(
      'the line',
      () => gateway.lines.at(-1)?.['path'] === target.split('?')[0] && gateway.lines.at(-1)?.['status'] === status,
    );
    const { reason } = gateway.lines.at(-1) as { reason?: string };
    expect(reason).toBe(status === 200 ? undefined : 'upstream_response_head_too_large');
  });

  it('applies to health checks', async () => {
    await eventually(
      'it passes',
      () => gateway.gateway.upstreams.find(({ id }) => id === 'long')?.health === 'healthy',
    );
  });
});
