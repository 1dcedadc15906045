import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminContext } from '../../../src/admin/admin-endpoint.ts';
import { readinessOf } from '../../../src/admin/endpoints/health.ts';
import type { WorkerGroup } from '../../../src/process/workers/worker-group.ts';
import { adminContextOf } from '../../support/admin.ts';
import { PUBLIC_ALL, startGateway, type TestGateway } from '../../support/gateway.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

let upstream: Upstream;
let site: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  site = await startGateway(
    `version: 1\nlisten: 127.0.0.1:0\nupstreams: { up: { url: '${upstream.url}' } }\nroutes:\n${PUBLIC_ALL}`,
  );
});
afterAll(async () => {
  await site.close();
  await upstream.close();
});

function contextWith(status: WorkerGroup['status']): AdminContext {
  const context = adminContextOf(site.gateway, site.log, site.planned);
  return { ...context, workers: { ...context.workers, status } };
}

const failureBefore = (ms: number) => ({ reason: 'out of memory', at: new Date(Date.now() - ms) });

const HEALTHY: WorkerGroup['status'] = {
  serving: 4,
  count: 4,
  threads: [],
  failures: 0,
  hung: 0,
  lastFailure: undefined,
  lastValidationHang: undefined,
};

describe('the readiness of several workers', () => {
  it.each<[string, Partial<WorkerGroup['status']>, string[]]>([
    ['all serve', {}, []],
    ['one does not serve', { serving: 3 }, ['only 3 of 4 workers serve requests']],
    [
      'one ended a moment ago',
      { failures: 1, lastFailure: failureBefore(30_000) },
      ['a worker ended unexpectedly in the last minute: out of memory'],
    ],
    ['one ended more than a minute ago', { failures: 1, lastFailure: failureBefore(61_000) }, []],
  ])('if %s', (_case, status, reasons) => {
    expect(readinessOf(contextWith({ ...HEALTHY, ...status }))).toEqual({
      status: reasons.length === 0 ? 'ready' : 'degraded',
      reasons,
    });
  });
});
