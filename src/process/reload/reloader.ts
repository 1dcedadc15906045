import { setTimeout as pause } from 'node:timers/promises';
import type { PlannedManifest } from '../../engine/load.ts';
import { type Dependencies, sha256 } from '../../engine/manifest/dependencies.ts';
import type { CheckedManifest } from '../../engine/manifest/read-manifest.ts';
import type { AddressOverrides, Environment } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { createFileThread, type FileSnapshot, type FileThread, SETTLE_MS } from './file-thread.ts';
import {
  createManifestThread,
  type ManifestThread,
  type PreparedReload,
  prepareReload,
  type UnsavedManifest,
} from './manifest-thread.ts';
import { type PlanChanges, type StartupSettings, settingsNeedingRestart, summarizeChanges } from './plan-changes.ts';
import {
  noReloadCounts,
  type ReloadCause,
  type ReloadCount,
  type ReloadOutcome,
  type ReportedReloadOutcome,
} from './reload-outcome.ts';
import { createReloadQueue, isExplicit } from './reload-queue.ts';
import { createUnsavedManifest, hideContents } from './unsaved-manifest.ts';
import { FileSystemHangError } from './worker-thread.ts';

/** Finds changes on mounts that send no notifications. */
const POLL_INTERVAL_MS = 5_000;
/** A reload that has found no settled and consistent files after this time fails, and is tried again. */
const MAX_SETTLE_MS = 5_000;
/** Files with problems must be the same for this time: half of a file is not a mistake of its author. */
const PROBLEM_SETTLE_MS = 500;
/** The time until the next attempt after a failure. It doubles with each further failure. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A megabyte of brackets would otherwise take the thread of a sent manifest a gigabyte. */
const MAX_UNSAVED_MEMORY_MB = 512;
/** A manifest with more routes starts its thread, which takes 40 MB, at the first sign of a change. */
const MANY_ROUTES = 1_000;

/** The workers of the gateway, or another user of a plan. */
export interface ReloadTarget {
  /** The active plan, from which unchanged parts are taken over. */
  readonly plan: Plan;
  /** Does everything that can fail before the activation. */
  prepare(planned: PlannedManifest): Promise<void>;
  /** Resolves once all requests that begin are served by the plan. Never rejects. */
  activate(planned: PlannedManifest): Promise<void>;
}

export interface ReloaderOptions {
  readonly path: string;
  readonly env: Environment['env'];
  readonly overrides?: AddressOverrides;
  /** See `FileThreadOptions`. */
  readonly secretsFolder?: string | undefined;
  readonly gateway: ReloadTarget;
  /** The files from which the active plan was loaded. */
  readonly initial: Dependencies & Pick<PlannedManifest, 'sources'> & Partial<Pick<PlannedManifest, 'compileInput'>>;
  /** Called for every reload that found a change. */
  readonly onReload: (reload: ReloadOutcome) => void;
  /** Called with an error code when the files cannot be watched. The poll continues. */
  readonly onWatchError?: (code: string) => void;
}

/** Reloads the manifest when it or a file that it names changes. README.md describes the stages of a reload. */
export class Reloader {
  /** The last reload that found a change; `undefined` until there is one. */
  lastOutcome: ReportedReloadOutcome | undefined;
  /** The error code while the files cannot be watched. */
  watchError: string | undefined;
  lastActivatedAt = new Date();
  /** The reloads that found a change, by outcome and cause. */
  counts: readonly ReloadCount[] = noReloadCounts();
  readonly #options: ReloaderOptions;
  readonly #fileThread: FileThread;
  readonly #manifestThread: ManifestThread;
  /** Reads manifests that are not saved. One that takes long or much memory delays no reload. */
  readonly #unsavedThread: ManifestThread;
  /** The settings that the process started with and that need a restart to change. */
  readonly #startup: StartupSettings;
  readonly #queue = createReloadQueue((cause) => this.#reload(cause));
  readonly #pollTimer: NodeJS.Timeout;
  #settleTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Set after a failure, until an attempt succeeds: the delay of the next attempt, and the manifest that failed. */
  #failure: { readonly retryMs: number; readonly manifestHash: string } | undefined;
  /** The files as the last reload read them. */
  #snapshot: FileSnapshot;
  /** The texts with variables in the active manifest. */
  #references: CheckedManifest['references'];
  /** SHA-256 of the manifest's own text at the last comparison, which may be newer than the snapshot. */
  #manifestHash: string;
  #isClosed = false;

  constructor(options: ReloaderOptions) {
    const { path, env, overrides = {}, secretsFolder, gateway, initial } = options;
    this.#options = options;
    this.#fileThread = createFileThread({ path, secretsFolder }, (channel) => {
      channel.handle('changed', () => this.#onFileChange());
      channel.handle('watchError', (code) => this.#onWatchError(code));
    });
    this.#manifestThread = createManifestThread({ path, env, overrides, secretsFolder });
    this.#unsavedThread = createManifestThread({ path, env, overrides, secretsFolder }, MAX_UNSAVED_MEMORY_MB);
    const { listen, admin, server } = gateway.plan;
    this.#startup = { listen, admin, server: { tls: server.tls, workers: server.workers } };
    // The hash of the text that was loaded, not of the file: a save since then is a change.
    this.#manifestHash = sha256(initial.sources[0]?.text ?? '');
    this.#snapshot = {
      manifestHash: this.#manifestHash,
      dependencies: { files: initial.files, globs: initial.globs, secretFiles: initial.secretFiles },
    };
    this.#references = initial.compileInput?.checked.references ?? [];
    this.#watch();
    this.#pollTimer = setInterval(() => void this.reload('poll'), POLL_INTERVAL_MS);
  }

  /** The path of the manifest, as it was named at the start. */
  get path(): string {
    return this.#options.path;
  }

  /** Threads that wait for a file system that does not respond. */
  get hungThreadCount(): number {
    return this.#threads.reduce((sum, { hungCount }) => sum + hungCount, 0);
  }

  /** Threads that did not respond and were replaced. */
  get hangCounts() {
    return { file: this.#fileThread.hangs, manifest: this.#manifestThread.hangs + this.#unsavedThread.hangs };
  }

  /** True while a thread waits for the file system. The process must not wait for such a thread when it exits. */
  get isThreadBlocked(): boolean {
    return this.#threads.some(({ isBlocked }) => isBlocked);
  }

  /** Keys of the active manifest that take effect only after a restart. */
  get keysNeedingRestart(): readonly string[] {
    return settingsNeedingRestart(this.#startup, this.#options.gateway.plan);
  }

  /** Reloads if a file has changed, with the files at its start. Never rejects. The new plan is active when it is `accepted`. */
  reload(cause: ReloadCause): Promise<ReloadOutcome> {
    return this.#queue.add(cause);
  }

  /** Prepares a manifest in place of the file, from files of the active one. Call it for one at a time. Never rejects; `reason` if unreadable. */
  async prepareUnsaved(text: UnsavedManifest['text']): Promise<PreparedReload> {
    if (this.#isClosed) return { reason: 'the gateway is stopping', snapshot: this.#snapshot };
    const { path, gateway } = this.#options;
    const { plan: active } = gateway;
    // The responses to requests would otherwise tell the sender the value of any variable, one question at a time.
    const unsaved = { ...createUnsavedManifest(text, this.#snapshot.dependencies), references: this.#references };
    try {
      const prepared = await prepareReload(this.#unsavedThread, active, unsaved);
      return 'problems' in prepared ? { ...prepared, ...hideContents(prepared, path, unsaved, active) } : prepared;
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), snapshot: this.#snapshot };
    } finally {
      await this.#unsavedThread.stop();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#retryTimer);
    clearInterval(this.#pollTimer);
    await Promise.all(this.#threads.map((thread) => thread.stop()));
    await this.#queue.idle();
  }

  get #threads() {
    return [this.#fileThread, this.#manifestThread, this.#unsavedThread];
  }

  async #reload(cause: ReloadCause): Promise<ReloadOutcome> {
    const [at, startMs] = [new Date(), performance.now()];
    const files = new Set<string>();
    if (this.#isClosed) return { kind: 'cancelled', cause, at, files: [], ms: 0 };
    const result = await this.#loadAndActivate(files, cause, startMs + MAX_SETTLE_MS).catch((error: unknown) =>
      this.#threadFailure(error),
    );
    const attempt = { cause, at, files: [...files], ms: Math.round(performance.now() - startMs) };
    if (this.#isClosed || result.kind === 'cancelled') return { ...attempt, kind: 'cancelled' };
    this.#watch();
    const outcome = { ...attempt, ...result };
    if (outcome.kind === 'unchanged' || this.#isRepeatedHang(outcome)) return outcome;
    this.lastOutcome = outcome;
    const { kind } = outcome;
    this.counts = this.counts.map((one) =>
      one.kind === kind && one.cause === cause ? { ...one, count: one.count + 1 } : one,
    );
    this.#options.onReload(outcome);
    return outcome;
  }

  /** Loads the files, again if one changes meanwhile and `deadlineMs` has not passed, and activates the plan. */
  async #loadAndActivate(files: Set<string>, cause: ReloadCause, deadlineMs: number) {
    for (;;) {
      const waitMs = Math.max(0, deadlineMs - performance.now());
      const comparison = { snapshot: this.#snapshot, waitMs };
      const { modificationTimes, changed, manifestHash } = await this.#fileThread.request('compare', comparison);
      this.#manifestHash = manifestHash;
      for (const file of changed) files.add(file);
      if (!this.#shouldLoad(cause, files.size > 0)) return { kind: 'unchanged' } as const;
      const prepared = await prepareReload(this.#manifestThread, this.#options.gateway.plan);
      if (!('planned' in prepared) && !this.#isClosed) await pause(PROBLEM_SETTLE_MS);
      const snapshots = { read: prepared.snapshot, previous: this.#snapshot, times: modificationTimes };
      if (await this.#fileThread.request('checkConsistency', snapshots)) {
        const outcome = await this.#activatePrepared(prepared);
        // Not before: after a failure, the files still count as changed.
        this.#snapshot = prepared.snapshot;
        this.#failure = undefined;
        return outcome;
      }
      if (this.#isClosed || performance.now() >= deadlineMs)
        throw new Error('the files change faster than they can be read');
      await pause(SETTLE_MS);
    }
  }

  /**
   * An explicit reload after a failed one reports the problems again, or succeeds if they are fixed. After a failure that is not due to
   * the files, a poll loads only another manifest; a later retry loads the same one again.
   */
  #shouldLoad(cause: ReloadCause, isChanged: boolean): boolean {
    if (this.#failure === undefined)
      return isChanged || (isExplicit(cause) && this.lastOutcome !== undefined && this.lastOutcome.kind !== 'accepted');
    return cause !== 'poll' || this.#failure.manifestHash !== this.#manifestHash;
  }

  async #activatePrepared(prepared: PreparedReload) {
    if ('reason' in prepared) return { kind: 'unreadable', reason: prepared.reason } as const;
    if ('problems' in prepared)
      return { kind: 'rejected', problems: prepared.problems, sources: prepared.sources } as const;
    await this.#options.gateway.prepare(prepared.planned);
    return this.#isClosed ? ({ kind: 'cancelled' } as const) : this.#activate(prepared.planned, prepared.changes);
  }

  async #activate(planned: PlannedManifest, changes: PlanChanges) {
    const { gateway } = this.#options;
    const { plan } = planned;
    const { hash: oldHash } = gateway.plan;
    await gateway.activate(planned);
    this.#references = planned.compileInput.checked.references;
    this.lastActivatedAt = new Date();
    return {
      kind: 'accepted',
      planned,
      hash: plan.hash,
      oldHash,
      changes,
      summary: summarizeChanges(changes),
      keysNeedingRestart: this.keysNeedingRestart,
    } as const;
  }

  #threadFailure(error: unknown) {
    // A manifest may always end its thread, for example because it runs out of memory, so each further attempt comes later. While the
    // file system hangs, each poll is an attempt: it is cheap.
    const isHang = error instanceof FileSystemHangError;
    const retryMs = Math.min(this.#failure === undefined ? MIN_RETRY_MS : 2 * this.#failure.retryMs, MAX_RETRY_MS);
    this.#failure = { retryMs, manifestHash: isHang ? '' : this.#manifestHash };
    clearTimeout(this.#retryTimer);
    if (!this.#isClosed) this.#retryTimer = setTimeout(() => void this.reload('retry'), retryMs);
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: isHang ? 'unreadable' : 'failed', reason } as const;
  }

  /** True if a poll or a file event fails because of a hang that was already reported. */
  #isRepeatedHang(outcome: ReportedReloadOutcome): boolean {
    const last = this.lastOutcome;
    const isSame = outcome.kind === 'unreadable' && last?.kind === 'unreadable' && outcome.reason === last.reason;
    return isSame && !isExplicit(outcome.cause) && this.hungThreadCount > 0;
  }

  #watch(): void {
    // Ignore errors: the next reload reports a thread that hangs.
    if (!this.#isClosed) this.#fileThread.request('watch', this.#snapshot).catch(() => undefined);
  }

  #onWatchError(code: string | undefined): void {
    if (this.#isClosed) return;
    this.watchError = code;
    if (code !== undefined) this.#options.onWatchError?.(code);
  }

  #onFileChange(): void {
    if (this.#isClosed) return;
    if (this.#options.gateway.plan.routes.length >= MANY_ROUTES) this.#manifestThread.start();
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.reload('change'), SETTLE_MS);
  }
}
