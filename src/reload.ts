import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from './gateway/gateway.ts';
import type { Planned } from './load.ts';
import { type Outside, sha256 } from './manifest/files.ts';
import type { Source, World } from './manifest/source.ts';
import { type Beginning, changesBetween, restartsFor, summaryOf } from './plan/changes.ts';
import { makePlan } from './reload/attempt.ts';
import { type Count, Counts } from './reload/counts.ts';
import { type FileEvent, FileThread } from './reload/file-thread.ts';
import type { Cause, News, Reload } from './reload/outcome.ts';
import { ReadingThread } from './reload/reading-thread.ts';
import type { Seen } from './reload/seen.ts';
import { SETTLE_MS } from './reload/steady.ts';
import { Hung } from './reload/thread.ts';

export type { Cause, News, Reload } from './reload/outcome.ts';

/** Some mounts tell of no change at all; this finds it. */
const POLL_MS = 5_000;
/** Files that are written without end are not waited for any longer. */
const PATIENCE_MS = 10_000;
/** From so many on, the thread that reads is begun before it is asked: it takes 40 MB, and more for what it has read. */
const MANY_ROUTES = 1_000;

export interface ReloaderOptions {
  readonly path: string;
  readonly env: World['env'];
  readonly gateway: Gateway;
  /** What the plan in force was made of. */
  readonly first: Outside & { readonly sources: readonly Source[] };
  /** Hears of every attempt that found something changed. */
  readonly tell: (reload: Reload) => void;
  /** Called with an error's code when the files cannot be watched; they are polled all the same. */
  readonly onWatchError?: (code: string) => void;
}

/**
 * Watches the manifest and every file that it names. When one of them changed, all of them are read, compiled and verified,
 * and if nothing is wrong, one assignment puts the plan in force; if something is, the last good plan stays.
 */
export class Reloader {
  /** How the last attempt ended that found something changed; `undefined` until there was one. */
  last: News | undefined;
  /** The code of the error that keeps the files from being watched. */
  watchError: string | undefined;
  /** When the plan in force was put in force. */
  lastSuccessAt = new Date();
  readonly #options: ReloaderOptions;
  readonly #files: FileThread;
  readonly #thread: ReadingThread;
  /** What the process began with. */
  readonly #began: Beginning;
  readonly #counts = new Counts();
  readonly #poll: NodeJS.Timeout;
  #seen: Seen;
  /** SHA-256 of the manifest's own text when the files were looked at last. */
  #ownSeen: string;
  #settling: NodeJS.Timeout | undefined;
  /** The last of the attempts that were asked for: they are made one after the other. */
  #running: Promise<unknown> = Promise.resolve();
  /** An attempt that has not begun: whoever asks for one now means this one. */
  #next: { readonly reload: Promise<Reload>; cause: Cause } | undefined;
  #isClosed = false;

  constructor(options: ReloaderOptions) {
    const { path, env, gateway, first } = options;
    this.#options = options;
    this.#files = new FileThread(path, (event) => this.#hear(event));
    this.#thread = new ReadingThread({ path, env });
    const { listen, admin, server } = gateway.plan;
    this.#began = { listen, admin, server: { tls: server.tls } };
    // What was saved since is news.
    this.#seen = {
      own: sha256(first.sources[0]?.text ?? ''),
      outside: { files: first.files, patterns: first.patterns },
    };
    this.#ownSeen = this.#seen.own;
    this.#follow();
    this.#poll = setInterval(() => void this.reload('poll'), POLL_MS);
  }

  /** SHA-256 of the manifest in force, in hex. */
  get hash(): string {
    return this.#options.gateway.plan.hash;
  }

  /** Threads that wait for the file system, perhaps for ever. */
  get hungThreads(): number {
    return this.#files.hungCount + this.#thread.hungCount;
  }

  /** True while a thread waits for the file system: the process must not wait for its end. */
  get isThreadHung(): boolean {
    return this.#files.isInOperation || this.#thread.isInOperation;
  }

  /** Keys of the manifest in force that take a restart: what they were at the start stays in force. */
  get needsRestart(): readonly string[] {
    return restartsFor(this.#began, this.#options.gateway.plan);
  }

  /** How many attempts ended how, by what had brought them about; those that found nothing changed are not counted. */
  get counts(): readonly Count[] {
    return this.#counts.all();
  }

  /**
   * Looks at all files now. Attempts are made one after the other, and each reads what is saved when it begins, so that
   * the last save wins. Resolves when it is known what came of it, with the plan in force if that is a new one.
   */
  reload(cause: Cause): Promise<Reload> {
    if (this.#next === undefined) {
      const reload = this.#running.then(() => {
        const asked = this.#next?.cause ?? cause;
        this.#next = undefined;
        return this.#attempt(asked);
      });
      this.#next = { reload, cause };
      this.#running = reload;
    } else if (isAsked(cause)) {
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
  async #attempt(cause: Cause): Promise<Reload> {
    const at = new Date();
    const start = performance.now();
    const files = new Set<string>();
    if (this.#isClosed) return { kind: 'cancelled', cause, at, files: [], ms: 0 };
    const end = await this.#takeOver(files, cause, start + PATIENCE_MS).catch((error: unknown) => this.#failed(error));
    const ms = Math.round(performance.now() - start);
    const attempted = { cause, at, files: [...files], ms };
    if (this.#isClosed || end.kind === 'cancelled') return { ...attempted, kind: 'cancelled' };
    this.#follow();
    const reload = { ...attempted, ...end };
    if (reload.kind === 'unchanged' || this.#isKnown(reload)) return reload;
    this.last = reload;
    this.#counts.count(reload);
    this.#options.tell(reload);
    return reload;
  }

  #failed(error: unknown) {
    // After a thread died, out of memory for example, the same text is not read again. A file system
    // that hangs is asked again, and its files are new once it responds.
    this.#seen = { ...this.#seen, own: error instanceof Hung ? '' : this.#ownSeen };
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) } as const;
  }

  /** A file system that hangs is reported once, and again to those who ask. */
  #isKnown(reload: News): boolean {
    const isSame =
      reload.kind === 'unreadable' && this.last?.kind === 'unreadable' && reload.reason === this.last.reason;
    return isSame && !isAsked(reload.cause) && this.hungThreads > 0;
  }

  /**
   * Reads until all that was read was there at one time, and puts it in force if nothing is wrong with it.
   *
   * @param files takes what has changed
   * @param endMs when to give up
   */
  async #takeOver(files: Set<string>, cause: Cause, endMs: number) {
    const isOver = () => this.#isClosed || performance.now() >= endMs;
    for (;;) {
      const { times, changed, own } = await this.#files.look(this.#seen, Math.max(0, endMs - performance.now()));
      this.#ownSeen = own;
      for (const file of changed) files.add(file);
      if (files.size === 0 && !this.#isAskedAgain(cause)) return { kind: 'unchanged' } as const;
      const named = this.#seen.outside.files.keys();
      const made = await makePlan(this.#thread, this.#files, named, this.#options.gateway.plan);
      if (await this.#files.isSteady(made.seen, this.#seen, times)) {
        this.#seen = made.seen;
        if ('reason' in made) return { kind: 'unreadable', reason: made.reason } as const;
        if ('problems' in made) return { kind: 'kept', problems: made.problems, sources: made.sources } as const;
        return this.#isClosed ? ({ kind: 'cancelled' } as const) : this.#putInForce(made.planned);
      }
      if (isOver())
        return { kind: 'unreadable', reason: 'the files are written faster than they can be read' } as const;
      await pause(SETTLE_MS);
    }
  }

  /** Whoever asks after a refusal is to be told why, and what was in the way may be gone. */
  #isAskedAgain(cause: Cause): boolean {
    return isAsked(cause) && this.last !== undefined && this.last.kind !== 'loaded';
  }

  #putInForce(planned: Planned) {
    const { gateway } = this.#options;
    const { plan: old } = gateway;
    const { plan } = planned;
    const changes = changesBetween(old, plan);
    gateway.swap(plan);
    this.lastSuccessAt = new Date();
    const { needsRestart } = this;
    const hashes = { hash: plan.hash, oldHash: old.hash };
    return { kind: 'loaded', planned, ...hashes, changes, summary: summaryOf(changes), needsRestart } as const;
  }

  /** Watches what was seen last. */
  #follow(): void {
    // A thread that hangs is reported by the next attempt.
    if (!this.#isClosed) this.#files.follow(this.#seen).catch(() => undefined);
  }

  /** Called once the watch stands, at each sign of a change, and when files cannot be watched. */
  #hear(event: FileEvent): void {
    if (this.#isClosed) return;
    if (event.kind === 'watch') {
      this.watchError = event.code;
      if (event.code !== undefined) this.#options.onWatchError?.(event.code);
      return;
    }
    if (this.#options.gateway.plan.routes.length >= MANY_ROUTES) this.#thread.begin();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.reload('change'), SETTLE_MS);
  }
}

function isAsked(cause: Cause): boolean {
  return cause === 'request' || cause === 'signal';
}
