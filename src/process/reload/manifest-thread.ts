import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type CompileInput, compileFromInput, createPlannedManifest, type PlannedManifest } from '../../engine/load.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { CheckedManifest } from '../../engine/manifest/read-manifest.ts';
import type { AddressOverrides, Environment, Source } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { runInSlices } from '../run-in-slices.ts';
import type { FileSnapshot, FileThreadOptions } from './file-thread.ts';
import { comparePlansSliced, type PlanChanges } from './plan-changes.ts';
import { WorkerThread } from './worker-thread.ts';

/** The data that the thread starts with. */
export interface ManifestThreadOptions extends FileThreadOptions {
  readonly env: Environment['env'];
  readonly overrides: AddressOverrides;
}

/** A manifest in place of the file. It may use only files of the active one: messages would tell its sender about others. */
export interface UnsavedManifest {
  /** Bytes are decoded in the thread. */
  readonly text: string | Uint8Array;
  /** As the active manifest names them. */
  readonly files: readonly string[];
  /** Those of them that the active manifest includes. No other file is read as a part of a manifest. */
  readonly includes: readonly string[];
  /** The texts with variables that it may have, those of the active manifest; all, if there are none of these here. */
  readonly references?: CheckedManifest['references'];
}

/** A manifest that the thread has read, checked, compiled and tested without a problem. */
interface TransferredManifest {
  /** Without its routes, which arrive on the port in chunks. */
  readonly checked: CheckedManifest;
  readonly routes: MessagePort;
  /** The texts of the files that the plan is compiled from. */
  readonly texts: CompileInput['texts'];
  /** The texts of the manifest and its includes, the manifest's own first. */
  readonly sources: readonly Source[];
}

/** Problems, with the texts that they are in. */
export interface LocatedProblems {
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
}

/** The reason why the manifest cannot be read. */
export interface ReadFailure {
  readonly reason: string;
}

/** The requests that the thread handles. */
export type ManifestRequests = {
  /** Reads, checks, compiles and tests the manifest, or the unsaved one in its place. */
  readonly read: {
    readonly value: UnsavedManifest | undefined;
    readonly result: { readonly snapshot: FileSnapshot } & (TransferredManifest | LocatedProblems | ReadFailure);
  };
};

/** The thread that reads, checks, compiles and tests the manifest, so that a large one delays no request. It handles one request at a time. */
export type ManifestThread = WorkerThread<ManifestRequests>;

/** Enough for the largest manifest on a machine that is not busy. */
const TIMEOUT_MS = 10_000;
const IDLE_MS = 600_000;

/** @param maxMemoryMb the limit of the heap of the thread; more ends the thread. By default that of the process */
export function createManifestThread({ env, ...options }: ManifestThreadOptions, maxMemoryMb?: number): ManifestThread {
  const data = { ...options, env: { ...env } };
  const task = 'checks and compiles the manifest';
  const limits = { timeoutMs: TIMEOUT_MS, idleMs: IDLE_MS, maxMemoryMb };
  return new WorkerThread({ file: 'manifest-worker', task, data, ...limits });
}

/** Assembles the chunks of a manifest in slices: receiving a large manifest at once would delay requests. */
function* assembleManifest({ checked, routes }: TransferredManifest): SlicedWork<CheckedManifest> {
  const assembled: Manifest['routes'] = [];
  for (let chunk = receiveMessageOnPort(routes); chunk !== undefined; chunk = receiveMessageOnPort(routes)) {
    assembled.push(...(chunk.message as Manifest['routes']));
    yield;
  }
  routes.close();
  return { ...checked, manifest: { ...checked.manifest, routes: assembled } };
}

/** The longest time that compiling delays a request. */
const SLICE_MS = 5;

/** The plan of the saved manifest, or the problems or the error that prevent it, with the files that were read. */
export type PreparedReload = { readonly snapshot: FileSnapshot } & (
  | { readonly planned: PlannedManifest; readonly changes: PlanChanges }
  | LocatedProblems
  | ReadFailure
);

/** Prepares the saved manifest, or an unsaved one, in the thread, and compiles it here from parts of `active`. Activates nothing. */
export async function prepareReload(
  manifestThread: ManifestThread,
  active: Plan,
  unsaved?: UnsavedManifest,
): Promise<PreparedReload> {
  const read = await manifestThread.request('read', unsaved);
  if (!('checked' in read)) return read;
  const { snapshot, sources, texts } = read;
  const checked = await runInSlices(assembleManifest(read), SLICE_MS);
  const compileInput = { checked, texts };
  const plan = await runInSlices(compileFromInput(compileInput, active), SLICE_MS);
  const changes = await runInSlices(comparePlansSliced(active, plan), SLICE_MS);
  const { dependencies } = snapshot;
  return { planned: createPlannedManifest({ compileInput, plan, sources, dependencies }), changes, snapshot };
}
