import type { AdminContext, ReloadControl } from '../../src/admin/admin-endpoint.ts';
import { createAdminMetrics } from '../../src/admin/admin-metrics.ts';
import { createAdminServer } from '../../src/admin/admin-server.ts';
import { createDescriptorMonitor } from '../../src/admin/descriptor-monitor.ts';
import type { NameResolver } from '../../src/engine/dns/name-resolver.ts';
import type { Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import type { Log } from '../../src/engine/log/log.ts';
import { createMemoryEnvironment, decodeText } from '../../src/engine/manifest/source.ts';
import type { PreparedReload } from '../../src/process/reload/manifest-thread.ts';
import { createWorkerTelemetry } from '../../src/process/workers/worker-telemetry.ts';
import { CandidateControl } from '../../src/traffic/candidate/candidate-control.ts';
import { createNoWorkers } from './candidate.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { comparePlans } from './plan-changes.ts';

export interface GatewayWithAdmin extends TestGateway {
  /** The address of the admin API. */
  readonly admin: { readonly url: string; readonly port: number };
}

/** Starts a gateway with its admin API. The manifest must have `admin`, on port 0. */
export async function startGatewayWithAdmin(
  manifest: string,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
  overrides: Partial<AdminContext> = {},
  stillMs?: number,
  resolver?: NameResolver,
): Promise<GatewayWithAdmin> {
  const running = await startGateway(manifest, env, files, resolver);
  const { gateway } = running;
  const settings = gateway.plan.admin;
  if (settings === undefined) throw new Error('the manifest has no "admin"');
  const context = { ...adminContextOf(gateway, running.log, running.planned), ...overrides };
  const admin = createAdminServer(settings, context, stillMs);
  const { port } = await admin.listen();
  const url = `${settings.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  return {
    ...running,
    admin: { url, port },
    async close() {
      await admin.close();
      await running.close();
    },
  };
}

/** Returns the context of an admin API for a gateway whose manifest is not a file. */
export function adminContextOf(gateway: Gateway, log: Log, activeManifest: () => PlannedManifest): AdminContext {
  return {
    gateway,
    workers: {
      status: {
        serving: 1,
        count: 1,
        threads: [],
        failures: 0,
        hung: 0,
        lastFailure: undefined,
        lastValidationHang: undefined,
      },
      telemetry: createWorkerTelemetry(gateway, log),
    },
    version: '1.2.3',
    startedAt: new Date(),
    overrides: {},
    activeManifest,
    reloader: { ...noReloads(), prepareUnsaved: async (text) => prepareText(decodeText(Buffer.from(text)), gateway) },
    candidate: new CandidateControl(gateway, log.logger, createNoWorkers()),
    candidateFile: undefined,
    isStopping: () => false,
    isWarm: () => true,
    descriptors: createDescriptorMonitor(gateway, log.logger, Number.POSITIVE_INFINITY),
    adminMetrics: createAdminMetrics(log.logger),
    standardStreams: () => ({ stdout: WORKING, stderr: WORKING }),
  };
}

/** Loads a manifest that uses no files. */
function prepareText(text: string, gateway: Gateway): PreparedReload {
  const loaded = load({ path: 'gateway.yaml', text }, createMemoryEnvironment(), gateway.plan);
  const { problems, sources } = loaded;
  const snapshot = {
    manifestHash: '',
    dependencies: { files: loaded.files, globs: loaded.globs, secretFiles: loaded.secretFiles },
  };
  if (loaded.plan === undefined) return { problems, sources, snapshot };
  return { planned: loaded, changes: comparePlans(gateway.plan, loaded.plan), snapshot };
}

const WORKING = { droppedLines: 0, waitingBytes: 0, error: undefined, errors: 0 };

/** The reload control of a gateway whose manifest is not a file. */
export function noReloads(): ReloadControl {
  const lastActivatedAt = new Date();
  const unchanged = { kind: 'unchanged', cause: 'request', files: [], at: lastActivatedAt, ms: 0 } as const;
  const counts = [{ kind: 'rejected', cause: 'change', count: 2 }] as const;
  return {
    path: 'gateway.yaml',
    lastOutcome: undefined,
    lastActivatedAt,
    keysNeedingRestart: [],
    counts,
    hungThreadCount: 0,
    hangCounts: { file: 0, manifest: 0 },
    watchError: undefined,
    reload: async () => unchanged,
    prepareUnsaved: async () => {
      throw new Error('this gateway has no files');
    },
  };
}
