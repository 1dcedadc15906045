import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Requests, ThreadChannel } from '../workers/thread-channel.ts';
import { createOperationCounter, type OperationCounter } from './operation-counter.ts';

/** The `workerData` of a thread: its own data and the operation counter. */
export type WorkerInput<Data> = Data & { readonly operations: OperationCounter };

interface WorkerThreadOptions<Events extends Requests> {
  /** The name of the code file in this folder, without its extension. */
  readonly file: string;
  /** The work of the thread, for messages: `reads the files`. */
  readonly task: string;
  readonly data: object;
  /** A request that takes longer ends the thread; the next one has twice as much time, up to `MAX_TIMEOUT_MS`, for slow machines. */
  readonly timeoutMs: number;
  /** True if a thread that works accesses a file at least every 5 seconds. One that does not is ended. */
  readonly isSteady?: boolean;
  /** The thread stops after this time without a request, to free its memory. Such a thread handles one request at a time. */
  readonly idleMs?: number;
  /** The thread ends when its heap needs more. */
  readonly maxMemoryMb?: number | undefined;
  /** Adds the handlers of the notices of a thread that was started. */
  readonly listen?: (channel: ThreadChannel<Requests, Events>) => void;
}

/** A thread whose file operation takes longer is abandoned. The next request starts another thread. */
const HANG_THRESHOLD_MS = 5_000;
const MAX_TIMEOUT_MS = 120_000;
/** How often the progress of the thread is checked. */
const WATCHDOG_INTERVAL_MS = 500;
/** While this many threads hang, no other thread starts. */
const MAX_HUNG_THREADS = 2;
/** The longest time that `stop` waits. A thread that hangs in the kernel cannot be terminated. */
const STOP_TIMEOUT_MS = 500;

/** A file system that does not respond. */
export class FileSystemHangError extends Error {}

/** A thread that accesses files and responds to requests about them. A file system that hangs blocks only this thread. */
export class WorkerThread<Served extends Requests, Events extends Requests = Record<never, never>> {
  readonly #options: WorkerThreadOptions<Events>;
  #worker: Worker | undefined;
  #channel: ThreadChannel<Served, Events> | undefined;
  #operations = createOperationCounter();
  /** Abandoned threads that have not ended. */
  readonly #hung = new Set<Worker>();
  #idleTimer: NodeJS.Timeout | undefined;
  #timeoutMs: number;
  /** Threads that were abandoned because they did not respond. */
  hangs = 0;

  constructor(options: WorkerThreadOptions<Events>) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs;
  }

  /** Abandoned threads, whose file operation does not end. */
  get hungCount(): number {
    return this.#hung.size;
  }

  /** True while a thread waits for the file system, possibly forever. */
  get isBlocked(): boolean {
    return this.#hung.size > 0 || (this.#worker !== undefined && Atomics.load(this.#operations, 0) % 2 !== 0);
  }

  /** Starts the thread ahead of the first request. */
  start(): void {
    this.#worker ??= this.#newWorker();
    this.#stopWhenIdle();
  }

  /** Rejects with `FileSystemHangError` if the file system hangs, or with another error if the thread ends before it responds. */
  async request<Name extends keyof Served & string>(
    name: Name,
    value: Served[Name]['value'],
  ): Promise<Served[Name]['result']> {
    if (this.#worker === undefined && this.#hung.size >= MAX_HUNG_THREADS) throw hangError();
    this.start();
    clearTimeout(this.#idleTimer);
    const watchdog = this.#startWatchdog();
    try {
      return await this.#channel?.request(name, value);
    } finally {
      clearInterval(watchdog);
      this.#stopWhenIdle();
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idleTimer);
    if (this.#worker === undefined) return;
    const ended = this.#abandon(this.#worker, new Error('the thread was stopped'));
    await Promise.race([ended, sleep(STOP_TIMEOUT_MS)]);
  }

  /** Abandons the thread when a request takes too long or a file operation hangs. */
  #startWatchdog(): NodeJS.Timeout {
    const worker = this.#worker as Worker;
    const operations = this.#operations;
    let lastCount = Atomics.load(operations, 0);
    // Checks are counted, not time: while the process or this thread stands still, there are none.
    let [elapsedMs, unchangedMs] = [0, 0];
    return setInterval(() => {
      const count = Atomics.load(operations, 0);
      elapsedMs += WATCHDOG_INTERVAL_MS;
      unchangedMs = count === lastCount ? unchangedMs + WATCHDOG_INTERVAL_MS : 0;
      lastCount = count;
      const isInOperation = count % 2 !== 0;
      const isStuck = this.#options.isSteady === true && count > 0 && unchangedMs >= HANG_THRESHOLD_MS;
      if (isInOperation && unchangedMs >= HANG_THRESHOLD_MS) this.#abandonHung(worker, hangError());
      else if (isInOperation) return;
      else if (elapsedMs >= this.#timeoutMs || isStuck) {
        this.#timeoutMs = Math.min(2 * this.#timeoutMs, MAX_TIMEOUT_MS);
        const silentMs = isStuck ? unchangedMs : elapsedMs;
        const { task } = this.#options;
        this.#abandonHung(worker, new Error(`the thread that ${task} did not respond for ${silentMs / 1_000} s`));
      }
    }, WATCHDOG_INTERVAL_MS);
  }

  #abandonHung(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.hangs += 1;
    void this.#abandon(worker, reason);
  }

  /** Terminates the thread. Resolves when it has ended: a thread that waits for the kernel may never end. */
  async #abandon(worker: Worker, reason: Error): Promise<void> {
    this.#hung.add(worker);
    this.#detach(worker, reason);
    await worker.terminate();
  }

  /** Rejects the open requests of a thread, and lets the next request start another one. */
  #detach(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#channel?.close(reason);
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    const { idleMs } = this.#options;
    if (idleMs !== undefined) this.#idleTimer = setTimeout(() => void this.stop(), idleMs).unref();
  }

  #newWorker(): Worker {
    const { file, task, data, maxMemoryMb, listen } = this.#options;
    this.#operations = createOperationCounter();
    // The extension of this file: the sources run as .ts, the package as .js.
    const url = new URL(`./${file}${extname(import.meta.url)}`, import.meta.url);
    const workerData = { ...data, operations: this.#operations };
    const resourceLimits = maxMemoryMb === undefined ? {} : { maxOldGenerationSizeMb: maxMemoryMb };
    const worker = new Worker(url, { name: file, workerData, execArgv: [], resourceLimits });
    this.#channel = new ThreadChannel(worker);
    listen?.(this.#channel);
    worker.on('error', (error: Error) => this.#detach(worker, error));
    worker.on('exit', () => {
      this.#hung.delete(worker);
      this.#detach(worker, new Error(`the thread that ${task} ended`));
    });
    worker.unref();
    return worker;
  }
}

function hangError(): FileSystemHangError {
  return new FileSystemHangError(
    `the file system does not respond: an operation takes longer than ${HANG_THRESHOLD_MS / 1_000} s`,
  );
}
