import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { createAdminServer } from '../../src/admin/admin-server.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { createProcessLog } from '../../src/process/log/process-log.ts';
import { createMainContext } from '../../src/process/workers/main-context.ts';
import { WorkerGroup } from '../../src/process/workers/worker-group.ts';
import { adminContextOf } from './admin.ts';
import { eventually } from './site.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Several workers with a log in a file and an admin API, for tests of what the main thread knows of all of them. */
export interface TelemetrySite {
  readonly group: WorkerGroup;
  readonly gateway: Gateway;
  readonly adminUrl: string;
  /** The threads that were started, also those that have ended. */
  readonly threads: readonly Worker[];
  /**
   * Sends requests and waits until they have ended. The kernel distributes their connections over the workers.
   *
   * @param connections by default each request has its own
   */
  send(count: number, path: string, connections?: number): Promise<(number | undefined)[]>;
  /** Replaces the routes. */
  reload(routes: string): Promise<void>;
  /** The access log so far, as written. */
  logText(): string;
  close(): Promise<void>;
}

export async function startTelemetrySite(count: number, upstream: string, routes: string): Promise<TelemetrySite> {
  const textOf = (list: string) =>
    `version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams: { up: { url: '${upstream}' } }\nroutes:\n${list}`;
  const planOf = (list: string): PlannedManifest => {
    const loaded = load({ path: 'gateway.yaml', text: textOf(list) }, createMemoryEnvironment());
    if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
    return loaded;
  };
  let planned = planOf(routes);
  const file = join(temporaryFolder('workers'), 'log');
  const log = createProcessLog(file);
  const context = createMainContext(count);
  const gateway = createGateway(planned.plan, log, { worker: context });
  const threads: Worker[] = [];
  const addThread = (thread: Worker) => void threads.push(thread);
  process.on('worker', addThread);
  const input = planned.compileInput;
  const descriptorLimit = Number.POSITIVE_INFINITY;
  const group = new WorkerGroup({ gateway, context, log, input, version: '0', descriptorLimit });
  await group.start(new AbortController().signal);
  const { port } = await group.listen();
  const settings = gateway.plan.admin;
  if (settings === undefined) throw new Error('the manifest has no "admin"');
  const admin = createAdminServer(settings, { ...adminContextOf(gateway, log, () => planned), workers: group });
  const { port: adminPort } = await admin.listen();
  return {
    group,
    gateway,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    threads,
    send: async (total, path, connections) => {
      const agent = new Agent({ keepAlive: connections !== undefined, maxSockets: connections ?? total });
      const statuses = await Promise.all(Array.from({ length: total }, () => statusOf(port, path, agent)));
      agent.destroy();
      await eventually('all requests have ended', () => gateway.metrics.inFlight === 0);
      return statuses;
    },
    reload: async (list) => {
      planned = planOf(list);
      await group.prepare(planned);
      await group.activate(planned);
    },
    logText: () => readFileSync(file, 'utf8'),
    close: async () => {
      process.off('worker', addThread);
      await admin.close();
      await group.close(0);
      await log.end();
    },
  };
}

/** Returns the status of a response; `undefined` if the connection failed. */
function statusOf(port: number, path: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve) => {
    get({ port, path, agent }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode));
    }).on('error', () => resolve(undefined));
  });
}
