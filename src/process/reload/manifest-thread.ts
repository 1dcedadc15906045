import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Dependencies } from '../../engine/manifest/dependencies.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { CheckedManifest } from '../../engine/manifest/read-manifest.ts';
import type { AddressOverrides, Environment, Source } from '../../engine/manifest/source.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import type { Finding } from '../../engine/problem/finding.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { WorkerThread } from './worker-thread.ts';

/** The data that the thread starts with. */
export interface ManifestThreadOptions {
  readonly path: string;
  readonly env: Environment['env'];
  readonly overrides: AddressOverrides;
}

/**
 * A manifest that is not saved, in place of the file. It may use only files of the active manifest. The sender of the text could
 * otherwise read other files, or a private key, through the messages about them.
 */
export interface UnsavedManifest {
  readonly text: string;
  /** As the active manifest names them. */
  readonly files: readonly string[];
  /** Those of them that the active manifest includes. No other file is read as a part of a manifest. */
  readonly includes: readonly string[];
}

/** `locate` finds the lines of findings, and `self-test` tests the manifest, in the texts that the last `read` has read. */
export type ManifestThreadRequest =
  | { readonly kind: 'read'; readonly unsaved: UnsavedManifest | undefined }
  | { readonly kind: 'locate'; readonly findings: readonly Finding[] }
  | { readonly kind: 'self-test' };

/** The result of reading and checking a manifest, as the thread sends it. */
export interface TransferredManifest {
  readonly findings: readonly Finding[];
  /** Without its routes, which arrive on the port. */
  readonly checked: CheckedManifest | undefined;
  /** The texts of the manifest and its includes, the manifest's own first. */
  readonly sources: readonly Source[];
  readonly dependencies: Dependencies;
  /** SHA-256 of the manifest's own text, in hex. */
  readonly manifestHash: string;
  /** Sends the routes in chunks; `undefined` if the manifest has no list of routes. */
  readonly routes: MessagePort | undefined;
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

const TIMEOUT_MS = 60_000;
/** The thread stops after this time without a reload, to free its memory. */
const IDLE_MS = 600_000;

/** The thread that parses and checks the manifest, so that a large one delays no request. It handles one request at a time. */
export class ManifestThread {
  readonly #thread: WorkerThread<ManifestThreadRequest>;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ env, ...options }: ManifestThreadOptions) {
    this.#thread = new WorkerThread({
      file: 'manifest-worker',
      data: { ...options, env: { ...env } },
      timeoutMs: TIMEOUT_MS,
    });
  }

  get hungCount(): number {
    return this.#thread.hungCount;
  }

  get isBlocked(): boolean {
    return this.#thread.isBlocked;
  }

  /** Starts the thread ahead of the first request. */
  start(): void {
    this.#thread.start();
    this.#stopWhenIdle();
  }

  /** @param unsaved a manifest that is read in place of the file */
  read(unsaved?: UnsavedManifest): Promise<TransferredManifest | ReadFailure> {
    return this.#request({ kind: 'read', unsaved });
  }

  locate(findings: readonly Finding[]): Promise<LocatedProblems> {
    return this.#request({ kind: 'locate', findings });
  }

  runSelfTest(): Promise<LocatedProblems> {
    return this.#request({ kind: 'self-test' });
  }

  close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    return this.#thread.stop();
  }

  async #request<Response>(request: ManifestThreadRequest): Promise<Response> {
    clearTimeout(this.#idleTimer);
    try {
      return await this.#thread.request<Response>(request);
    } finally {
      this.#stopWhenIdle();
    }
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#thread.stop(), IDLE_MS).unref();
  }
}

/** Assembles the chunks of a manifest in slices: receiving a large manifest at once would delay requests. */
export function* assembleManifest({ checked, routes }: TransferredManifest): SlicedWork<CheckedManifest | undefined> {
  if (checked === undefined || routes === undefined) return checked;
  const assembled: Manifest['routes'] = [];
  for (let chunk = receiveMessageOnPort(routes); chunk !== undefined; chunk = receiveMessageOnPort(routes)) {
    assembled.push(...(chunk.message as Manifest['routes']));
    yield;
  }
  routes.close();
  return { ...checked, manifest: { ...checked.manifest, routes: assembled } };
}
