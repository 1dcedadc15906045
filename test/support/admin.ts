import { createAdmin } from '../../src/admin/admin.ts';
import type { Operated } from '../../src/admin/call.ts';
import { restartsFor } from '../../src/plan/changes.ts';
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
): Promise<Operating> {
  const running = await startGateway(manifest, env, files);
  const { gateway } = running;
  const rules = gateway.plan.admin;
  if (rules === undefined) throw new Error('the manifest has no "admin"');
  const since = new Date();
  const first = gateway.plan;
  const admin = createAdmin(rules, {
    gateway,
    version: '1.2.3',
    startedAt: since,
    needsRestart: () => restartsFor(first, gateway.plan),
    inForce: () => ({ planned: running.planned(), since }),
    lastReload: () => undefined,
    reloads: () => [{ kind: 'loaded', cause: 'change', count: 0 }],
    reload: async (cause) => ({ kind: 'unchanged', cause, at: since, ms: 0, files: [] }),
    isStopping: () => false,
    ...others,
  });
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
