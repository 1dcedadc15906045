import { createAdmin } from '../../src/admin/admin.ts';
import { AdminCounts } from '../../src/admin/admin-counts.ts';
import type { Operated, Reloading } from '../../src/admin/call.ts';
import { Descriptors } from '../../src/admin/descriptors.ts';
import type { NameResolver } from '../../src/dns/resolver.ts';
import { type Running, startGateway } from './gateway.ts';

export interface Operating extends Running {
  /** Where operators ask. */
  readonly admin: { readonly url: string; readonly port: number };
}

/** A gateway with its operators' side; the manifest has `admin`, on port 0. */
export async function startOperating(
  manifest: string,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
  others: Partial<Operated> = {},
  stillMs?: number,
  resolver?: NameResolver,
): Promise<Operating> {
  const running = await startGateway(manifest, env, files, resolver);
  const { gateway } = running;
  const rules = gateway.plan.admin;
  if (rules === undefined) throw new Error('the manifest has no "admin"');
  const since = new Date();
  const operated = {
    gateway,
    version: '1.2.3',
    startedAt: since,
    planned: running.planned,
    reloader: noReloads(gateway.plan.hash),
    isStopping: () => false,
    descriptors: new Descriptors(gateway, running.log.logger, Number.POSITIVE_INFINITY),
    counts: new AdminCounts(running.log.logger),
    streams: () => ({ stdout: WELL, stderr: WELL }),
    ...others,
  };
  const admin = createAdmin(rules, operated, stillMs);
  const { port } = await admin.listen();
  const url = `${rules.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  return {
    ...running,
    admin: { url, port },
    async close() {
      await admin.close();
      await running.close();
    },
  };
}

const WELL = { droppedLines: 0, waitingBytes: 0, error: undefined, errors: 0 };

/** Of a gateway whose manifest is no file. */
export function noReloads(hash: string): Reloading {
  const at = new Date();
  const unchanged = { kind: 'unchanged', cause: 'request', files: [], at, ms: 0 } as const;
  const counts = [{ kind: 'kept', cause: 'change', count: 2 }] as const;
  return {
    last: undefined,
    lastSuccessAt: at,
    needsRestart: [],
    counts,
    hash,
    hungThreads: 0,
    watchError: undefined,
    reload: async () => unchanged,
  };
}
