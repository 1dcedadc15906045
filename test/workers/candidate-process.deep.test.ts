import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCandidate } from '../cli/candidate/support.ts';
import { type CliProcess, startCli } from '../support/cli.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { readReport, readReportAfter } from './candidate-report.ts';

let upstream: Upstream;
const started: CliProcess[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(async () => {
  for (const { child, result } of started) {
    child.kill('SIGKILL');
    await result;
  }
  await upstream.close();
});

/** Returns a manifest in which two routes count by one limit. */
function textOf(allow: number, version = 1): string {
  return `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { workers: 2, stopping: { delay: 0s } }
upstreams: { up: { url: '${upstream.url}' } }
rateLimits: { all: { key: client, allow: ${allow} per 1h } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public, rateLimits: [all] }
  - { id: two, method: GET, path: /two, upstream: up, access: public, responseHeaders: { set: { X-Version: '${version}' } } }
`;
}

async function start(args: string[], files: Record<string, string>) {
  const folder = temporaryFolder('candidate', files);
  const cli = startCli(['run', ...args], folder);
  started.push(cli);
  const [, url = '', adminUrl = ''] = await cli.waitFor(/"url":"(http:[^"]+)","admin":"(http:[^"]+)".*"msg":"serving"/);
  const get = async (path: string) =>
    (await sendRequest(Number(new URL(url).port), head(`GET ${path} HTTP/1.1`))).status;
  /** Sends requests on connections of their own, so that both workers have some. */
  const getAll = (path: string, count: number) => Promise.all(Array.from({ length: count }, () => get(path)));
  /** Sends them one after the other: a candidate counts requests in the order in which they end. */
  const getEach = async (path: string, count: number) => {
    const statuses: number[] = [];
    while (statuses.length < count) statuses.push(await get(path));
    return statuses;
  };
  return { cli, folder, adminUrl, getAll, getEach };
}

const REQUESTS = 40;

it('run --candidate compares with the file in all workers, after each change of one of the manifests', async () => {
  const files = { 'gateway.yaml': textOf(10), 'next.yaml': textOf(4) };
  const { cli, folder, adminUrl, getAll, getEach } = await start(['--candidate', 'next.yaml'], files);
  await cli.waitFor(/"msg":"candidate loaded/);
  const statuses = await getEach('/one', REQUESTS);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  const first = await readReportAfter({ adminUrl }, REQUESTS);
  expect([first.same, first.changed.kinds, first.unknown.total]).toEqual([REQUESTS - 6, { 'newly-refused': 6 }, 0]);

  writeFileSync(join(folder, 'gateway.yaml'), textOf(10, 2));
  await cli.waitFor(/"msg":"manifest reloaded"/);
  const reloaded = await readReport({ adminUrl });
  expect([reloaded.requests, reloaded.active_hash === first.active_hash]).toEqual([0, false]);
  await getAll('/two', REQUESTS);
  expect((await readReportAfter({ adminUrl }, REQUESTS)).same).toBe(REQUESTS);

  writeFileSync(join(folder, 'next.yaml'), 'nonsense: 1\n');
  await cli.waitFor(/"msg":"candidate rejected"/);
  writeFileSync(join(folder, 'next.yaml'), textOf(20));
  await eventually('the candidate is loaded', () => cli.out().split('"msg":"candidate loaded').length === 3);
  const refused = await getAll('/one', REQUESTS);
  expect(new Set(refused)).toEqual(new Set([429]));
  // The active limit has counted requests before, so the decision of the other limit is not known.
  const { unknown, changed } = await readReportAfter({ adminUrl }, REQUESTS);
  expect([unknown.reasons, changed.kinds]).toEqual([{ 'rate-limit': 20 }, {}]);
  cli.child.kill('SIGTERM');
  expect((await cli.result).code).toBe(0);
});

it('candidate put, wait and delete see the requests of all workers', async () => {
  const { folder, adminUrl, getAll } = await start([], { 'gateway.yaml': textOf(100), 'next.yaml': textOf(15) });
  const candidate = (...args: string[]) => runCandidate({ args: [...args, '--url', adminUrl] });
  expect((await candidate('put', join(folder, 'next.yaml'))).code).toBe(0);
  const waiting = candidate('wait', '--requests', String(REQUESTS), '--for', '60s', '--fail-on', 'newly-allowed');
  await getAll('/one', REQUESTS);
  const { code, out } = await waiting;
  expect([code, out]).toEqual([0, expect.stringContaining(`requests   ${REQUESTS}: 15 same, 25 changed, 0 unknown`)]);
  expect((await candidate('delete')).code).toBe(0);
  expect((await readReport({ adminUrl })).state).toBe('none');
});
