import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Dependencies } from '../manifest/dependencies.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { CheckedManifest } from '../manifest/read-manifest.ts';
import type { Environment, Source } from '../manifest/source.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import type { Finding } from '../problem/finding.ts';
import type { Problem } from '../problem/problem.ts';
import { WorkerThread } from './worker-thread.ts';

/** What the thread is told as it begins. */
export interface ManifestThreadOptions {
  readonly path: string;
  readonly env: Environment['env'];
}

/** Read the manifest anew; place findings in what was read last; run its self test. */
export type ManifestThreadRequest =
  | { readonly kind: 'read' }
  | { readonly kind: 'place'; readonly findings: readonly Finding[] }
  | { readonly kind: 'test' };

export interface TransferredManifest {
  /** Errors of the texts; with one of them nothing was checked. */
  readonly findings: readonly Finding[];
  /** Without its routes, which are sent through the port. */
  readonly checked: CheckedManifest | undefined;
  /** The texts that it was read from, the manifest's own first. */
  readonly sources: readonly Source[];
  readonly dependencies: Dependencies;
  /** SHA-256 of the manifest's own text, in hex. */
  readonly manifestHash: string;
  /** The routes in pieces; `undefined` when there is no list of them. */
  readonly routes: MessagePort | undefined;
}

/** Problems, and the texts that they are in. */
export interface LocatedProblems {
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
}

/** What cannot be read, and why. */
export interface ReadFailure {
  readonly reason: string;
}

const TIMEOUT_MS = 60_000;
/** Without a reload for so long it gives its memory back; the next one begins it anew. */
const IDLE_MS = 600_000;

/** The thread that parses manifests, so that a large one delays no request. One question at a time. */
export class ManifestThread {
  readonly #thread: WorkerThread<ManifestThreadRequest>;
  #idle: NodeJS.Timeout | undefined;

  constructor({ path, env }: ManifestThreadOptions) {
    this.#thread = new WorkerThread({
      file: 'manifest-worker',
      data: { path, env: { ...env } },
      timeoutMs: TIMEOUT_MS,
    });
  }

  get hungCount(): number {
    return this.#thread.hungCount;
  }

  get isBlocked(): boolean {
    return this.#thread.isBlocked;
  }

  /** Begins it if it has not begun, so that it is ready for the first question. */
  start(): void {
    this.#thread.start();
    this.#endWhenIdle();
  }

  read(): Promise<TransferredManifest | ReadFailure> {
    return this.#ask({ kind: 'read' });
  }

  locate(findings: readonly Finding[]): Promise<LocatedProblems> {
    return this.#ask({ kind: 'place', findings });
  }

  runSelfTest(): Promise<LocatedProblems> {
    return this.#ask({ kind: 'test' });
  }

  close(): Promise<void> {
    clearTimeout(this.#idle);
    return this.#thread.stop();
  }

  async #ask<Answer>(question: ManifestThreadRequest): Promise<Answer> {
    clearTimeout(this.#idle);
    try {
      return await this.#thread.request<Answer>(question);
    } finally {
      this.#endWhenIdle();
    }
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#thread.stop(), IDLE_MS).unref();
  }
}

/** Puts the pieces of a manifest together, step by step: to take all of it at once would take too long. */
export function* assembleManifest({ checked, routes }: TransferredManifest): SlicedWork<CheckedManifest | undefined> {
  if (checked === undefined || routes === undefined) return checked;
  const whole: Manifest['routes'] = [];
  for (let piece = receiveMessageOnPort(routes); piece !== undefined; piece = receiveMessageOnPort(routes)) {
    whole.push(...(piece.message as Manifest['routes']));
    yield;
  }
  routes.close();
  return { ...checked, manifest: { ...checked.manifest, routes: whole } };
}
