import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasRedis, startRedis, stopRedis } from '../support/redis.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { SECRET, storeAt } from '../support/shared-gateways.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const closings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});
afterAll(stopRedis);

const textOf = (upstream: Upstream, redis: string, rest: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${upstream.url}' } }
stores: { ${storeAt(redis, rest)} }
rateLimits: { all: { key: client, allow: 60000 per 24h, store: counters } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public, rateLimits: [all] }
`;

describe.skipIf(!hasRedis)('a reload that changes a store', () => {
  /** Serves a manifest with a store, and returns functions that reload it with another one and send a request. */
  async function serve(redis: string) {
    const upstream = await startUpstream((_request, response) => void response.end());
    closings.push(() => upstream.close());
    const first = textOf(upstream, redis, 'timeout: 2s, onFailure: refuse');
    const path = join(temporaryFolder('reload-stores', { 'gateway.yaml': first }), 'gateway.yaml');
    const gateway: TestGateway = await startGateway(first, { SECRET });
    closings.push(() => gateway.close());
    const initial = { sources: [{ path, text: first }], files: new Map(), globs: new Map(), secretFiles: new Map() };
    const reloader = new Reloader({
      path,
      env: { SECRET },
      gateway: reloadTargetOf(gateway.gateway),
      initial,
      onReload: () => {},
    });
    closings.push(() => reloader.close());
    const reload = async (url: string, rest: string) => {
      writeFileSync(path, textOf(upstream, url, rest));
      const { kind } = await reloader.reload('request');
      // The poll may have loaded the file just before.
      return kind === 'unchanged' ? reloader.lastOutcome?.kind : kind;
    };
    const send = async () => (await fetch(`${gateway.url}/one`)).status;
    return { reload, send, gateway };
  }

  it('connects to the store before the plan is activated, so that no request is refused', async () => {
    const [former, next] = [await startRedis(), await startRedis()];
    const { reload, send, gateway } = await serve(former.url);
    const statuses = new Set<number>();
    for (const [url, rest] of [
      [former.url, 'timeout: 3s, onFailure: refuse'],
      [next.url, 'timeout: 3s, onFailure: refuse'],
    ] as const) {
      let isReloading = true;
      const reloaded = reload(url, rest).finally(() => {
        isReloading = false;
      });
      while (isReloading) statuses.add(await send());
      expect(await reloaded).toBe('accepted');
      expect(gateway.gateway.stores).toMatchObject([{ state: 'up', decisionsWithout: 0 }]);
      statuses.add(await send());
    }
    expect([...statuses]).toEqual([200]);
    expect(await next.run('KEYS', 'sg:rl:all:*')).not.toBe('');
  });

  it('is accepted if the store does not respond', async () => {
    const redis = await startRedis();
    const { reload, send, gateway } = await serve(redis.url);
    expect(await reload('redis://127.0.0.1:1', 'timeout: 2s, onFailure: local')).toBe('accepted');
    expect(gateway.gateway.stores).toMatchObject([{ state: 'down' }]);
    expect(await send()).toBe(200);
  });
});
