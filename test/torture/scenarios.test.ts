import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import { load } from '../../src/load.ts';
import { createFileEnvironment } from '../../src/manifest/file-environment.ts';
import { Reloader } from '../../src/reload/reloader.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Serving, Site, type Telling } from './site.ts';

/** Each way in which files change, a few times; `npm run torture` does it under load, and more often. */
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
  const tellings: Telling[] = [];
  const onReload: ConstructorParameters<typeof Reloader>[0]['onReload'] = (reload) => {
    if (reload.kind !== 'unchanged' && reload.kind !== 'cancelled') tellings.push(reload);
  };
  const reloader = new Reloader({ path, env: {}, gateway, initial, onReload });
  return {
    port,
    tellings,
    ask: async () => void (await reloader.reload('request')),
    close: async () => {
      await reloader.close();
      await gateway.close(0);
    },
  };
}

function hashOf(path: string): string | undefined {
  return load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {})).plan?.hash;
}

describe('a manifest', () => {
  it.for(SCENARIOS)('$name', async ({ begin, change, end, isPossible }, { skip }) => {
    if (isPossible?.() === false) skip('this machine does not let it be done');
    const site = new Site(upstream.url, 9);
    (begin ?? ((place, version) => place.write('gateway.yaml', place.text(version))))(site, 1);
    site.serving = await serve(site);
    try {
      await site.served(1);
      const whole = [hashOf(site.path)];
      for (let version = 2; version < 2 + TIMES; version += 1) {
        await change(site, version);
        await site.served(version);
        whole.push(hashOf(site.path));
      }
      // Whatever was put in force on the way was one of the versions, and in the end the last one.
      const loaded = site.serving.tellings.filter(({ kind }) => kind === 'accepted').map(({ hash }) => hash);
      expect(loaded.filter((hash) => !whole.includes(hash))).toEqual([]);
      expect(loaded.at(-1)).toBe(whole.at(-1));
    } finally {
      end?.(site);
      await site.close();
    }
  });
});
