import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createOperationCounter, type OperationCounter } from './operation-counter.ts';

/** The data that a thread begins with. */
export type WorkerInput<Data> = Data & { readonly operations: OperationCounter };

/** A thread responds with the question's number; a message without one is an event. */
export type WorkerMessage = { readonly id: number; readonly answer: unknown } | { readonly event: unknown };

interface WorkerThreadOptions {
  /** The file of its code beside this one, without its ending. */
  readonly file: string;
  readonly data: object;
  /** A question that takes longer ends the thread; another one begins. */
  readonly timeoutMs: number;
  readonly onEvent?: (event: unknown) => void;
}

/** One operation of the file system that takes longer hangs: the thread is left alone with it, and another one begins. */
const HANG_THRESHOLD_MS = 5_000;
/** How often the thread's progress is looked at. */
const WATCHDOG_INTERVAL_MS = 500;
/** With so many threads that hang no other one begins, until one of them has ended. */
const MAX_HUNG_THREADS = 2;
/** Nothing ends a thread that waits for the kernel, so nobody waits longer for its end. */
const STOP_TIMEOUT_MS = 500;

const LIMIT_EXCEEDED_MESSAGE = 'reading took too long, or more memory than there is';

/** The file system does not respond. */
export class FileSystemHangError extends Error {}

/** Another thread that works with files and responds to questions about them. A file system that hangs stops only that thread. */
export class WorkerThread<Question> {
  readonly #options: WorkerThreadOptions;
  #worker: Worker | undefined;
  #operations = createOperationCounter();
  /** Threads that were left alone and have not ended. */
  readonly #hung = new Set<Worker>();
  readonly #open = new Map<number, PromiseWithResolvers<never>>();
  #lastId = 0;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  /** Threads that were left alone with an operation that does not end. */
  get hungCount(): number {
    return this.#hung.size;
  }

  /** True while a thread waits for the file system, perhaps for ever. */
  get isBlocked(): boolean {
    return this.#hung.size > 0 || (this.#worker !== undefined && Atomics.load(this.#operations, 0) % 2 !== 0);
  }

  start(): void {
    this.#worker ??= this.#newWorker();
  }

  /** Rejects with `Hung`, or when the thread ends before it has responded. */
  async request<Answer>(question: Question): Promise<Answer> {
    if (this.#worker === undefined && this.#hung.size >= MAX_HUNG_THREADS) throw hangError();
    this.start();
    const worker = this.#worker;
    const open = Promise.withResolvers<never>();
    this.#lastId += 1;
    const id = this.#lastId;
    this.#open.set(id, open);
    const watchdog = this.#watch();
    worker?.postMessage({ id, question });
    try {
      return await open.promise;
    } finally {
      clearInterval(watchdog);
      this.#open.delete(id);
    }
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_TIMEOUT_MS);
    this.#abandon(worker, new Error('the thread was ended'));
    void worker.terminate().then(() => resolve());
    await promise;
    clearTimeout(timer);
  }

  /** Ends the thread when it takes too long, and leaves it alone when it hangs. */
  #watch(): NodeJS.Timeout {
    const worker = this.#worker as Worker;
    const operations = this.#operations;
    const begunMs = performance.now();
    let seen = Atomics.load(operations, 0);
    let seenMs = begunMs;
    return setInterval(() => {
      const now = performance.now();
      const count = Atomics.load(operations, 0);
      if (count !== seen || count % 2 === 0) {
        seen = count;
        seenMs = now;
        if (now - begunMs > this.#options.timeoutMs) this.#abandon(worker, new Error(LIMIT_EXCEEDED_MESSAGE));
      } else if (now - seenMs > HANG_THRESHOLD_MS) {
        this.#abandon(worker, hangError());
      }
    }, WATCHDOG_INTERVAL_MS);
  }

  /** Its end is asked for, but the kernel may never let it end. */
  #abandon(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.#hung.add(worker);
    this.#leave(worker, reason);
    void worker.terminate();
  }

  #leave(worker: Worker, reason: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const open of this.#open.values()) open.reject(reason);
    this.#open.clear();
  }

  #newWorker(): Worker {
    const { file, data, onEvent } = this.#options;
    this.#operations = createOperationCounter();
    // By this file's own ending: the sources run as they are, and so does what is built of them.
    const url = new URL(`./${file}${extname(import.meta.url)}`, import.meta.url);
    const workerData = { ...data, operations: this.#operations };
    const worker = new Worker(url, { name: file, workerData, execArgv: [] });
    worker.on('message', (message: WorkerMessage) => {
      if ('event' in message) onEvent?.(message.event);
      else this.#open.get(message.id)?.resolve(message.answer as never);
    });
    worker.on('error', (error: Error) => this.#leave(worker, error));
    worker.on('exit', () => {
      this.#hung.delete(worker);
      this.#leave(worker, new Error(LIMIT_EXCEEDED_MESSAGE));
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
