import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { createMainContext } from '../../src/process/workers/main-context.ts';
import { WorkerGroup } from '../../src/process/workers/worker-group.ts';
import { eventually } from '../support/site.ts';
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

async function serve(site: Site, workers: number): Promise<Serving> {
  const { path } = site;
  const initial = load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {}));
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  const log = { logger: pino({ enabled: false }), writeLine: () => undefined, flush: () => undefined };
  const context = createMainContext(workers);
  const gateway = createGateway(initial.plan, log, { worker: context });
  const input = initial.compileInput;
  const group = new WorkerGroup({ gateway, context, log, input, version: '0', descriptorLimit: 1_000_000 });
  await group.start(new AbortController().signal);
  const { port } = await group.listen();
  const reloads: ReloadEvent[] = [];
  const onReload: ConstructorParameters<typeof Reloader>[0]['onReload'] = (reload) => {
    if (reload.kind !== 'unchanged' && reload.kind !== 'cancelled') reloads.push(reload);
  };
  const reloader = new Reloader({ path, env: {}, gateway: group, initial, onReload });
  return {
    port,
    reloads,
    reload: async () => void (await reloader.reload('request')),
    close: async () => {
      await reloader.close();
      await group.close(0);
    },
  };
}

function hashOf(path: string): string | undefined {
  return load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {})).plan?.hash;
}

/** Scenarios that run with several workers too. The others differ only in how the files change, and only worker 0 reads them. */
const WITH_WORKERS: Readonly<Record<string, readonly number[]>> = {
  'written in place': [2],
  'renamed into place': [2, 4],
  'invalid for a while': [2],
  'saved 20 times without a pause': [2, 4],
};
const CASES = SCENARIOS.flatMap((scenario) =>
  [1, ...(WITH_WORKERS[scenario.name] ?? [])].map((workers) => ({ ...scenario, workers })),
);

// The scenarios wait most of the time, so they run concurrently.
describe.concurrent('the gateway activates a manifest', () => {
  it.for(CASES)('$name, with workers: $workers', async ({ begin, change, end, isPossible, workers }, { skip }) => {
    if (isPossible?.() === false) skip('not possible on this machine');
    const site = new Site(upstream.url, 9);
    (begin ?? ((target, version) => target.write('gateway.yaml', target.text(version))))(site, 1);
    site.serving = await serve(site, workers);
    try {
      await site.served(1);
      const hashes = [hashOf(site.path)];
      for (let version = 2; version < 2 + TIMES; version += 1) {
        await change(site, version);
        await site.served(version);
        hashes.push(hashOf(site.path));
      }
      const { reloads } = site.serving;
      const activated = () => reloads.filter(({ kind }) => kind === 'accepted').map(({ hash }) => hash);
      // A reload is reported when all workers have the plan, so one of them may serve it before.
      await eventually('the last version is reported', async () => activated().at(-1) === hashes.at(-1));
      // Every activated plan is one of the versions.
      expect(activated().filter((hash) => !hashes.includes(hash))).toEqual([]);
    } finally {
      end?.(site);
      await site.close();
    }
  });
});
