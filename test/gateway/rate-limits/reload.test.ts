import { afterAll, beforeAll, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { keepAliveHead, Wire } from '../../support/raw.ts';
import { IS_DEEP } from '../../support/runs.ts';
import { startWireUpstream, type WireUpstream } from '../../support/upstream.ts';

const RELOADS = IS_DEEP ? 1_000 : 100;
const WRONG = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';

let upstream: WireUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(() => WRONG);
  gateway = await startGateway(manifestOf(0));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Each version has other limits, in another order, beside the one that stays. */
function manifestOf(version: number): string {
  const changing = [`changing-${version % 7}`, `changing-${version % 5}`, `new-${version}`];
  const stays = version % 2 === 0 ? ['stays', ...changing] : [...changing, 'stays'];
  const ids = [...new Set(stays)];
  const limits = ids.map((id) =>
    id === 'stays'
      ? '  stays: { key: { header: X-Account }, missing: refuse, allow: 40 per 24h, count: failures }'
      : `  ${id}: { key: client, allow: ${1_000 + version} per 1s, mode: ${version % 3 === 0 ? 'enforce' : 'report'} }`,
  );
  const routes = `  - { id: all, method: GET, path: /**, upstream: up, access: public, rateLimits: [${ids.join(', ')}] }
rateLimits:
${limits.join('\n')}
`;
  return manifest(routes, { up: upstream.url });
}

it('counts exactly while reloads add, remove and change other limits', async () => {
  const accounts = ['a', 'b', 'c', 'd'];
  const allowed = new Map<string, number>();
  let isOver = false;
  const clients = accounts.map(async (account) => {
    const wire = await Wire.open(gateway.port);
    while (!isOver) {
      wire.write(keepAliveHead('GET /x HTTP/1.1', `X-Account: ${account}`));
      const { status } = await wire.response();
      if (status === 401) allowed.set(account, (allowed.get(account) ?? 0) + 1);
    }
    wire.end();
  });
  for (let version = 1; version <= RELOADS; version += 1) {
    gateway.swap(manifestOf(version));
    await new Promise(setImmediate);
  }
  while (accounts.some((account) => (allowed.get(account) ?? 0) < 40)) await new Promise(setImmediate);
  const before = upstream.messages.length;
  for (let version = 1; version <= 10; version += 1) {
    gateway.swap(manifestOf(RELOADS + version));
    await new Promise((resolve) => setImmediate(resolve));
  }
  isOver = true;
  await Promise.all(clients);
  expect([...allowed.values()]).toEqual([40, 40, 40, 40]);
  expect([before, upstream.messages.length]).toEqual([160, 160]);
  const { local, counts } = gateway.gateway.rateLimiter;
  expect(local.tables.size).toBeLessThanOrEqual(4);
  expect(counts.get('stays')?.allowed).toBe(160);
  expect([...counts.keys()].toSorted()).toEqual(
    gateway
      .planned()
      .plan.rateLimits.map(({ id }) => id)
      .toSorted(),
  );
});
