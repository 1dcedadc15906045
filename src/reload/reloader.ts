import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from '../gateway/gateway.ts';
import type { PlannedManifest } from '../load.ts';
import { type Dependencies, sha256 } from '../manifest/dependencies.ts';
import type { Environment, Source } from '../manifest/source.ts';
import { type PlanChanges, type StartupSettings, settingsNeedingRestart, summarizeChanges } from '../plan/changes.ts';
import type { FileSnapshot } from './file-snapshot.ts';
import { FileThread, type FileWatchEvent } from './file-thread.ts';
import { ManifestThread } from './manifest-thread.ts';
import { prepareReload } from './prepare-reload.ts';
import { type ReloadCount, ReloadCounts } from './reload-counts.ts';
import type { ReloadCause, ReloadOutcome, ReportedReloadOutcome } from './reload-outcome.ts';
import { SETTLE_MS } from './settled-files.ts';
import { FileSystemHangError } from './worker-thread.ts';

export type { ReloadCause, ReloadOutcome, ReportedReloadOutcome } from './reload-outcome.ts';

/** Some mounts tell of no change at all; this finds it. */
const POLL_INTERVAL_MS = 5_000;
/** Files that are written without end are not waited for any longer. */
const MAX_SETTLE_MS = 10_000;
/** From so many on, the thread that reads is begun before it is asked: it takes 40 MB, and more for what it has read. */
const MANY_ROUTES = 1_000;

export interface ReloaderOptions {
  readonly path: string;
  readonly env: Environment['env'];
  readonly gateway: Gateway;
  /** What the plan in force was made of. */
  readonly initial: Dependencies & { readonly sources: readonly Source[] };
  /** Hears of every attempt that found something changed. */
  readonly onReload: (reload: ReloadOutcome) => void;
  /** Called with an error's code when the files cannot be watched; they are polled all the same. */
  readonly onWatchError?: (code: string) => void;
}

/**
 * Watches the manifest and every file that it names. When one of them changed, all of them are read, compiled and verified,
 * and if nothing is wrong, one assignment puts the plan in force; if something is, the last good plan stays.
 */
export class Reloader {
  /** How the last attempt ended that found something changed; `undefined` until there was one. */
  lastOutcome: ReportedReloadOutcome | undefined;
  /** The code of the error that keeps the files from being watched. */
  watchError: string | undefined;
  /** When the plan in force was put in force. */
  lastActivatedAt = new Date();
  readonly #options: ReloaderOptions;
  readonly #files: FileThread;
  readonly #thread: ManifestThread;
  /** What the process began with. */
  readonly #began: StartupSettings;
  readonly #counts = new ReloadCounts();
  readonly #poll: NodeJS.Timeout;
  #seen: FileSnapshot;
  /** SHA-256 of the manifest's own text when the files were looked at last. */
  #ownSeen: string;
  #settling: NodeJS.Timeout | undefined;
  /** The last of the attempts that were asked for: they are made one after the other. */
  #running: Promise<unknown> = Promise.resolve();
  /** An attempt that has not begun: whoever asks for one now means this one. */
  #next: { readonly reload: Promise<ReloadOutcome>; cause: ReloadCause } | undefined;
  #isClosed = false;

  constructor(options: ReloaderOptions) {
    const { path, env, gateway, initial } = options;
    this.#options = options;
    this.#files = new FileThread(path, (event) => this.#hear(event));
    this.#thread = new ManifestThread({ path, env });
    const { listen, admin, server } = gateway.plan;
    this.#began = { listen, admin, server: { tls: server.tls } };
    // What was saved since is news.
    this.#seen = {
      manifestHash: sha256(initial.sources[0]?.text ?? ''),
      dependencies: { files: initial.files, globs: initial.globs },
    };
    this.#ownSeen = this.#seen.manifestHash;
    this.#follow();
    this.#poll = setInterval(() => void this.reload('poll'), POLL_INTERVAL_MS);
  }

  /** SHA-256 of the manifest in force, in hex. */
  get hash(): string {
    return this.#options.gateway.plan.hash;
  }

  /** Threads that wait for the file system, perhaps for ever. */
  get hungThreadCount(): number {
    return this.#files.hungCount + this.#thread.hungCount;
  }

  /** True while a thread waits for the file system: the process must not wait for its end. */
  get isThreadBlocked(): boolean {
    return this.#files.isBlocked || this.#thread.isBlocked;
  }

  /** Keys of the manifest in force that take a restart: what they were at the start stays in force. */
  get keysNeedingRestart(): readonly string[] {
    return settingsNeedingRestart(this.#began, this.#options.gateway.plan);
  }

  /** How many attempts ended how, by what had brought them about; those that found nothing changed are not counted. */
  get counts(): readonly ReloadCount[] {
    return this.#counts.all();
  }

  /**
   * Looks at all files now. Attempts are made one after the other, and each reads what is saved when it begins, so that
   * the last save wins. Resolves when it is known what came of it, with the plan in force if that is a new one.
   */
  reload(cause: ReloadCause): Promise<ReloadOutcome> {
    if (this.#next === undefined) {
      const reload = this.#running.then(() => {
        const asked = this.#next?.cause ?? cause;
        this.#next = undefined;
        return this.#attempt(asked);
      });
      this.#next = { reload, cause };
      this.#running = reload;
    } else if (isExplicit(cause)) {
      // Whoever asks is to be answered, whatever had brought it about before.
      this.#next.cause = cause;
    }
    return this.#next.reload;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#settling);
    clearInterval(this.#poll);
    await Promise.all([this.#files.close(), this.#thread.close()]);
    await this.#running;
  }

  /** Never rejects. */
  async #attempt(cause: ReloadCause): Promise<ReloadOutcome> {
    const at = new Date();
    const start = performance.now();
    const files = new Set<string>();
    if (this.#isClosed) return { kind: 'cancelled', cause, at, files: [], ms: 0 };
    const end = await this.#takeOver(files, cause, start + MAX_SETTLE_MS).catch((error: unknown) =>
      this.#failed(error),
    );
    const ms = Math.round(performance.now() - start);
    const attempted = { cause, at, files: [...files], ms };
    if (this.#isClosed || end.kind === 'cancelled') return { ...attempted, kind: 'cancelled' };
    this.#follow();
    const reload = { ...attempted, ...end };
    if (reload.kind === 'unchanged' || this.#isKnown(reload)) return reload;
    this.lastOutcome = reload;
    this.#counts.add(reload);
    this.#options.onReload(reload);
    return reload;
  }

  #failed(error: unknown) {
    // After a thread died, out of memory for example, the same text is not read again. A file system
    // that hangs is asked again, and its files are new once it responds.
    this.#seen = { ...this.#seen, manifestHash: error instanceof FileSystemHangError ? '' : this.#ownSeen };
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) } as const;
  }

  /** A file system that hangs is reported once, and again to those who ask. */
  #isKnown(reload: ReportedReloadOutcome): boolean {
    const isSame =
      reload.kind === 'unreadable' &&
      this.lastOutcome?.kind === 'unreadable' &&
      reload.reason === this.lastOutcome.reason;
    return isSame && !isExplicit(reload.cause) && this.hungThreadCount > 0;
  }

  /**
   * Reads until all that was read was there at one time, and puts it in force if nothing is wrong with it.
   *
   * @param files takes what has changed
   * @param endMs when to give up
   */
  async #takeOver(files: Set<string>, cause: ReloadCause, endMs: number) {
    const isOver = () => this.#isClosed || performance.now() >= endMs;
    for (;;) {
      const { modificationTimes, changed, manifestHash } = await this.#files.compare(
        this.#seen,
        Math.max(0, endMs - performance.now()),
      );
      this.#ownSeen = manifestHash;
      for (const file of changed) files.add(file);
      if (files.size === 0 && !this.#isAskedAgain(cause)) return { kind: 'unchanged' } as const;
      const named = this.#seen.dependencies.files.keys();
      const made = await prepareReload(this.#thread, this.#files, named, this.#options.gateway.plan);
      if (await this.#files.isConsistent(made.snapshot, this.#seen, modificationTimes)) {
        this.#seen = made.snapshot;
        if ('reason' in made) return { kind: 'unreadable', reason: made.reason } as const;
        if ('problems' in made) return { kind: 'rejected', problems: made.problems, sources: made.sources } as const;
        return this.#isClosed ? ({ kind: 'cancelled' } as const) : this.#putInForce(made.planned, made.changes);
      }
      if (isOver())
        return { kind: 'unreadable', reason: 'the files are written faster than they can be read' } as const;
      await pause(SETTLE_MS);
    }
  }

  /** Whoever asks after a refusal is to be told why, and what was in the way may be gone. */
  #isAskedAgain(cause: ReloadCause): boolean {
    return isExplicit(cause) && this.lastOutcome !== undefined && this.lastOutcome.kind !== 'accepted';
  }

  #putInForce(planned: PlannedManifest, changes: PlanChanges) {
    const { gateway } = this.#options;
    const { plan: old } = gateway;
    const { plan } = planned;
    gateway.activate(plan);
    this.lastActivatedAt = new Date();
    const { keysNeedingRestart } = this;
    const hashes = { hash: plan.hash, oldHash: old.hash };
    return {
      kind: 'accepted',
      planned,
      ...hashes,
      changes,
      summary: summarizeChanges(changes),
      keysNeedingRestart,
    } as const;
  }

  /** Watches what was seen last. */
  #follow(): void {
    // A thread that hangs is reported by the next attempt.
    if (!this.#isClosed) this.#files.watch(this.#seen).catch(() => undefined);
  }

  /** Called once the watch stands, at each sign of a change, and when files cannot be watched. */
  #hear(event: FileWatchEvent): void {
    if (this.#isClosed) return;
    if (event.kind === 'watch') {
      this.watchError = event.code;
      if (event.code !== undefined) this.#options.onWatchError?.(event.code);
      return;
    }
    if (this.#options.gateway.plan.routes.length >= MANY_ROUTES) this.#thread.start();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.reload('change'), SETTLE_MS);
  }
}

function isExplicit(cause: ReloadCause): boolean {
  return cause === 'request' || cause === 'signal';
}
