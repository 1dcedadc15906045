/** The process of large.ts: serves a manifest with many routes, reloads it and reports how long that takes and blocks the loop. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import { load } from '../../src/engine/load.ts';
import { createNullLog } from '../../src/engine/log/log.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { pause } from '../support/pause.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import type { ReloadMeasurement } from './large.ts';

const RELOADS = 6;
const routes = Number(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'large-'));
const path = join(folder, 'gateway.yaml');
writeFileSync(path, textOf(0));
const first = load({ path, text: textOf(0) }, createFileEnvironment(path, {}));
if (first.plan === undefined) throw new Error(JSON.stringify(first.problems[0]));
const gateway = createGateway(first.plan, createNullLog());
await gateway.listen();
const reloader = new Reloader({
  path,
  env: {},
  gateway: reloadTargetOf(gateway),
  initial: first,
  onReload: () => undefined,
});
const measurements: ReloadMeasurement[] = [];
for (let version = 1; version <= RELOADS; version += 1) {
  // Creates the text before the measurement begins.
  const text = textOf(version);
  await pause(1_000);
  measurements.push(await measure(text));
}
await reloader.close();
await gateway.close(0);
rmSync(folder, { recursive: true });
process.send?.(measurements);
process.disconnect?.();

async function measure(text: string): Promise<ReloadMeasurement> {
  writeFileSync(path, text);
  let last = { wall: performance.now(), own: threadMs() };
  let pauseMs = 0;
  let ownPauseMs = 0;
  const sampling = setInterval(() => {
    const now = { wall: performance.now(), own: threadMs() };
    pauseMs = Math.max(pauseMs, now.wall - last.wall);
    ownPauseMs = Math.max(ownPauseMs, now.own - last.own);
    last = now;
  }, 1);
  const start = performance.now();
  const startUsage = process.cpuUsage();
  const { kind } = await reloader.reload('request');
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(startUsage);
  clearInterval(sampling);
  if (kind !== 'accepted') throw new Error(kind);
  return { ms, pauseMs, ownPauseMs, processorMs: (user + system) / 1_000 };
}

/** Returns the processor time of this thread. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function textOf(version: number): string {
  const head = `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: http://127.0.0.1:9 }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }
routes:
`;
  const route = (index: number) =>
    `  - id: route-${index}-${version}
    method: ${index % 2 === 0 ? 'GET' : '[GET, POST]'}
    path: /api/service-${index % 100}/things-${index}/{id}
    upstream: up
    access: ${index % 3 === 0 ? 'public' : 'protected'}
`;
  return head + Array.from({ length: routes }, (_, index) => route(index)).join('');
}
