import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createOperationCounter, type OperationCounter } from './operation-counter.ts';

/** The `workerData` of a thread: its own data and the operation counter. */
export type WorkerInput<Data> = Data & { readonly operations: OperationCounter };

/** A message to a thread. */
export interface WorkerRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

/** A message from a thread: the response to the request with this id, or an event. */
export type WorkerMessage = { readonly id: number; readonly response: unknown } | { readonly event: unknown };

interface WorkerThreadOptions {
  /** The name of the code file in this folder, without its extension. */
  readonly file: string;
  readonly data: object;
  /** A request that takes longer ends the thread. The next request starts another one. */
  readonly timeoutMs: number;
  readonly onEvent?: (event: unknown) => void;
}

/** A thread whose file operation takes longer is abandoned. The next request starts another thread. */
const HANG_THRESHOLD_MS = 5_000;
/** How often the progress of the thread is checked. */
const WATCHDOG_INTERVAL_MS = 500;
/** While this many threads hang, no other thread starts. */
const MAX_HUNG_THREADS = 2;
/** The longest time that `stop` waits. A thread that hangs in the kernel cannot be terminated. */
const STOP_TIMEOUT_MS = 500;

const LIMIT_EXCEEDED_MESSAGE = 'reading the files took too long or ran out of memory';

/** A file system that does not respond. */
export class FileSystemHangError extends Error {}

/** A thread that accesses files and responds to requests about them. A file system that hangs blocks only this thread. */
export class WorkerThread<Request> {
  readonly #options: WorkerThreadOptions;
  #worker: Worker | undefined;
  #operations = createOperationCounter();
  /** Abandoned threads that have not ended. */
  readonly #hung = new Set<Worker>();
  readonly #pending = new Map<number, PromiseWithResolvers<never>>();
  #lastId = 0;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  /** Abandoned threads, whose file operation does not end. */
  get hungCount(): number {
    return this.#hung.size;
  }

  /** True while a thread waits for the file system, possibly forever. */
  get isBlocked(): boolean {
    return this.#hung.size > 0 || (this.#worker !== undefined && Atomics.load(this.#operations, 0) % 2 !== 0);
  }

  start(): void {
    this.#worker ??= this.#newWorker();
  }

  /**
   * Rejects with `FileSystemHangError` if the file system hangs, or with another error if the thread ends before it
   * responds.
   */
  async request<Response>(request: Request): Promise<Response> {
    if (this.#worker === undefined && this.#hung.size >= MAX_HUNG_THREADS) throw hangError();
    this.start();
    const worker = this.#worker;
    const pending = Promise.withResolvers<never>();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#pending.set(id, pending);
    const watchdog = this.#startWatchdog();
    worker?.postMessage({ id, request } satisfies WorkerRequest<Request>);
    try {
      return await pending.promise;
    } finally {
      clearInterval(watchdog);
      this.#pending.delete(id);
    }
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_TIMEOUT_MS);
    this.#abandon(worker, new Error('the thread was stopped'));
    void worker.terminate().then(() => resolve());
    await promise;
    clearTimeout(timer);
  }

  /** Abandons the thread when a request takes too long or a file operation hangs. */
  #startWatchdog(): NodeJS.Timeout {
    const worker = this.#worker as Worker;
    const operations = this.#operations;
    const startMs = performance.now();
    let lastCount = Atomics.load(operations, 0);
    let lastChangeMs = startMs;
    return setInterval(() => {
      const now = performance.now();
      const count = Atomics.load(operations, 0);
      if (count !== lastCount || count % 2 === 0) {
        lastCount = count;
        lastChangeMs = now;
        if (now - startMs > this.#options.timeoutMs) this.#abandon(worker, new Error(LIMIT_EXCEEDED_MESSAGE));
      } else if (now - lastChangeMs > HANG_THRESHOLD_MS) {
        this.#abandon(worker, hangError());
      }
    }, WATCHDOG_INTERVAL_MS);
  }

  /** Terminates the thread without waiting: a thread that waits for the kernel may never end. */
  #abandon(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.#hung.add(worker);
    this.#detach(worker, reason);
    void worker.terminate();
  }

  /** Rejects the open requests of a thread, and lets the next request start another one. */
  #detach(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const pending of this.#pending.values()) pending.reject(reason);
    this.#pending.clear();
  }

  #newWorker(): Worker {
    const { file, data, onEvent } = this.#options;
    this.#operations = createOperationCounter();
    // The extension of this file: the sources run as .ts, the package as .js.
    const url = new URL(`./${file}${extname(import.meta.url)}`, import.meta.url);
    const workerData = { ...data, operations: this.#operations };
    const worker = new Worker(url, { name: file, workerData, execArgv: [] });
    worker.on('message', (message: WorkerMessage) => {
      if ('event' in message) onEvent?.(message.event);
      else this.#pending.get(message.id)?.resolve(message.response as never);
    });
    worker.on('error', (error: Error) => this.#detach(worker, error));
    worker.on('exit', () => {
      this.#hung.delete(worker);
      this.#detach(worker, new Error(LIMIT_EXCEEDED_MESSAGE));
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
