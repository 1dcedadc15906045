import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdminServer } from '../../src/admin/admin-server.ts';
import { lint } from '../../src/check/lint/lint.ts';
import { loadTested } from '../../src/cli/manifest-file.ts';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import type { PlannedManifest } from '../../src/engine/load.ts';
import { createNullLog } from '../../src/engine/log/log.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import { hasErrors } from '../../src/engine/problem/problem.ts';
import { adminContextOf } from '../support/admin.ts';
import { anySettings, SETTING_ENV, SETTING_FILES } from '../support/any-setting.ts';
import { runProcess, startCli } from '../support/cli.ts';
import { exchangeBytes } from '../support/raw.ts';
import { cases, runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** The number of manifests. */
const MANIFESTS = 150;
/** The errors of a machine without IPv6 and of a folder that does not exist, which `lint` cannot know. */
const OF_MACHINE = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOENT'];

let upstream: Upstream;
let folder: string;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => void response.end('{}'));
  folder = temporaryFolder('lint-and-run', SETTING_FILES);
});
afterAll(() => upstream.close());

describe('a manifest without errors in lint', () => {
  it('is one that the gateway serves, for random manifests', async () => {
    const counts = { served: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(anySettings(upstream.url), async (text) => {
        const path = join(folder, 'gateway.yaml');
        const { loaded, selfTest } = await loadTested({ path, text }, createFileEnvironment(path, SETTING_ENV));
        const isClean = !hasErrors([...lint(loaded), ...selfTest.problems]);
        const isServed = loaded.plan !== undefined && selfTest.problems.length === 0;
        expect(isClean).toBe(isServed);
        counts[isServed ? 'served' : 'refused'] += 1;
        if (isServed) await serveOnce(loaded);
      }),
      { numRuns: runs(MANIFESTS) },
    );
    expect(Math.min(counts.served, counts.refused)).toBeGreaterThan(cases(MANIFESTS) / 10);
  });

  it('starts as a process, and one with errors exits with the same problems', async () => {
    const texts = fc.sample(anySettings(upstream.url), 6);
    for (const text of texts) {
      writeFileSync(join(folder, 'gateway.yaml'), text);
      const { code, out } = await runProcess(['lint', '--preset', 'minimal'], folder, SETTING_ENV);
      const cli = startCli(['run'], folder, SETTING_ENV);
      if (code === 0) await cli.waitFor(/"msg":"serving"|cannot listen on/);
      else expect([text, await cli.result]).toEqual([text, { code: 1, out: '', err: out }]);
      cli.child.kill('SIGKILL');
      await cli.result;
    }
  });
});

describe('a manifest with an error of load', () => {
  it('has the same problems in lint and in run', async () => {
    const cases = new URL('../manifest/cases/', import.meta.url);
    for (const rule of ['listen-twice', 'tls', 'address'])
      for (const name of readdirSync(new URL(`${rule}/`, cases))
        .filter((file) => file.endsWith('.yaml'))
        .slice(0, 1)) {
        const text = readFileSync(new URL(`${rule}/${name}`, cases), 'utf8');
        const other = temporaryFolder('lint-and-run', { 'gateway.yaml': text });
        const [linted, started] = await Promise.all([runProcess(['lint'], other), runProcess(['run'], other)]);
        expect([linted.code, started.code, started.err]).toEqual([1, 1, linted.out]);
      }
  });
});

/** Starts a gateway and its admin API, and sends one request to each route. */
async function serveOnce(planned: PlannedManifest): Promise<void> {
  const { plan } = planned;
  const log = createNullLog();
  for (const { tls } of plan.upstreams) createSecureContext(tls());
  const gateway = createGateway(plan, log);
  const internalErrors: unknown[] = [];
  gateway.subscribe(({ refusal }) => {
    if (refusal?.code === 'internal_error') internalErrors.push(refusal.reason);
  });
  const admin =
    plan.admin &&
    createAdminServer(
      plan.admin,
      adminContextOf(gateway, log, () => planned),
    );
  try {
    const { port, address } = await gateway.listen();
    await admin?.listen();
    gateway.activate(plan);
    // A gateway on an address of another machine is not reached, and neither is one with TLS.
    if (plan.server.tls === undefined && address === '127.0.0.1')
      for (const { methods, path } of plan.routes)
        await exchangeBytes(
          port,
          `${methods[0]} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
  } catch (error) {
    expect(OF_MACHINE).toContain((error as NodeJS.ErrnoException).code);
  } finally {
    await admin?.close();
    await gateway.close(0);
  }
  expect(internalErrors).toEqual([]);
}
