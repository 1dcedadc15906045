import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { newOperations, type Operations } from './counted.ts';

/** The data that a thread begins with. */
export type Begun<Data> = Data & { readonly operations: Operations };

/** A thread responds with the question's number; a message without one is an event. */
export type Message = { readonly id: number; readonly answer: unknown } | { readonly event: unknown };

interface Options {
  /** The file of its code beside this one, without its ending. */
  readonly file: string;
  readonly data: object;
  /** A question that takes longer ends the thread; another one begins. */
  readonly maxMs: number;
  readonly onEvent?: (event: unknown) => void;
}

/** One operation of the file system that takes longer hangs: the thread is left alone with it, and another one begins. */
const HUNG_MS = 5_000;
/** How often the thread's progress is looked at. */
const LOOK_MS = 500;
/** With so many threads that hang no other one begins, until one of them has ended. */
const MAX_HUNG = 2;
/** Nothing ends a thread that waits for the kernel, so nobody waits longer for its end. */
const END_MS = 500;

const TOO_MUCH = 'reading took too long, or more memory than there is';

/** The file system does not respond. */
export class Hung extends Error {}

/** Another thread that works with files and responds to questions about them. A file system that hangs stops only that thread. */
export class Thread<Question> {
  readonly #options: Options;
  #worker: Worker | undefined;
  #operations = newOperations();
  /** Threads that were left alone and have not ended. */
  readonly #hung = new Set<Worker>();
  readonly #open = new Map<number, PromiseWithResolvers<never>>();
  #lastId = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Threads that were left alone with an operation that does not end. */
  get hungCount(): number {
    return this.#hung.size;
  }

  /** True while a thread waits for the file system, perhaps for ever. */
  get isInOperation(): boolean {
    return this.#hung.size > 0 || (this.#worker !== undefined && Atomics.load(this.#operations, 0) % 2 !== 0);
  }

  begin(): void {
    this.#worker ??= this.#newWorker();
  }

  /** Rejects with `Hung`, or when the thread ends before it has responded. */
  async ask<Answer>(question: Question): Promise<Answer> {
    if (this.#worker === undefined && this.#hung.size >= MAX_HUNG) throw hung();
    this.begin();
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

  async end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, END_MS);
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
        if (now - begunMs > this.#options.maxMs) this.#abandon(worker, new Error(TOO_MUCH));
      } else if (now - seenMs > HUNG_MS) {
        this.#abandon(worker, hung());
      }
    }, LOOK_MS);
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
    this.#operations = newOperations();
    // By this file's own ending: the sources run as they are, and so does what is built of them.
    const url = new URL(`./${file}${extname(import.meta.url)}`, import.meta.url);
    const workerData = { ...data, operations: this.#operations };
    const worker = new Worker(url, { name: file, workerData, execArgv: [] });
    worker.on('message', (message: Message) => {
      if ('event' in message) onEvent?.(message.event);
      else this.#open.get(message.id)?.resolve(message.answer as never);
    });
    worker.on('error', (error: Error) => this.#leave(worker, error));
    worker.on('exit', () => {
      this.#hung.delete(worker);
      this.#leave(worker, new Error(TOO_MUCH));
    });
    worker.unref();
    return worker;
  }
}

function hung(): Hung {
  return new Hung(`the file system does not respond: an operation takes longer than ${HUNG_MS / 1_000} s`);
}
