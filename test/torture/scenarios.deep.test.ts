import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { load } from '../../src/load.ts';
import { createFileEnvironment } from '../../src/manifest/file-environment.ts';
import { Reloader } from '../../src/reload/reloader.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { SCENARIOS } from './scenarios.ts';
import { type ReloadEvent, type Serving, Site } from './site.ts';

/** Each scenario runs a few times here. `npm run torture` runs it more often and under load. */
const TIMES = 2;

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

async function serve(site: Site): Promise<Serving> {
  const { path } = site;
  const initial = load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {}));
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  const log = { logger: pino({ enabled: false }), writeLine: () => undefined, flush: () => undefined };
  const gateway = createGateway(initial.plan, log);
  const { port } = await gateway.listen();
  const reloads: ReloadEvent[] = [];
  const onReload: ConstructorParameters<typeof Reloader>[0]['onReload'] = (reload) => {
    if (reload.kind !== 'unchanged' && reload.kind !== 'cancelled') reloads.push(reload);
  };
  const reloader = new Reloader({ path, env: {}, gateway: reloadTargetOf(gateway), initial, onReload });
  return {
    port,
    reloads,
    reload: async () => void (await reloader.reload('request')),
    close: async () => {
      await reloader.close();
      await gateway.close(0);
    },
  };
}

function hashOf(path: string): string | undefined {
  return load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {})).plan?.hash;
}

// The scenarios wait most of the time, so they run concurrently.
describe.concurrent('the gateway activates a manifest', () => {
  it.for(SCENARIOS)('$name', async ({ begin, change, end, isPossible }, { skip }) => {
    if (isPossible?.() === false) skip('not possible on this machine');
    const site = new Site(upstream.url, 9);
    (begin ?? ((target, version) => target.write('gateway.yaml', target.text(version))))(site, 1);
    site.serving = await serve(site);
    try {
      await site.served(1);
      const hashes = [hashOf(site.path)];
      for (let version = 2; version < 2 + TIMES; version += 1) {
        await change(site, version);
        await site.served(version);
        hashes.push(hashOf(site.path));
      }
      // Every activated plan is one of the versions, and the last one is active at the end.
      const activated = site.serving.reloads.filter(({ kind }) => kind === 'accepted').map(({ hash }) => hash);
      expect(activated.filter((hash) => !hashes.includes(hash))).toEqual([]);
      expect(activated.at(-1)).toBe(hashes.at(-1));
    } finally {
      end?.(site);
      await site.close();
    }
  });
});
