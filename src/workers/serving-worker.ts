import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CompileInput } from '../load.ts';
import type { MainRequests, ServingRequests, WorkerSetup } from './messages.ts';
import { ThreadChannel } from './thread-channel.ts';

/** The longest time that a worker may take to load the gateway and to compile its plan. */
const START_TIMEOUT_MS = 60_000;

/** A thread that serves requests on a listener of its own, seen from the main thread. */
export class ServingWorker {
  readonly index: number;
  readonly channel: ThreadChannel<ServingRequests, MainRequests>;
  /** Resolves once the worker can listen. Rejects if it ends before that. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the thread has ended. Never rejects. */
  readonly ended: Promise<Error>;
  /** The input of the plan that the worker has compiled last. */
  input: CompileInput;
  /** True once the worker has the active plan and takes part in reloads. */
  hasJoined = false;
  /** True once the worker accepts connections. */
  isListening = false;
  readonly #thread: Worker;

  constructor(setup: WorkerSetup) {
    this.index = setup.index;
    this.input = setup.input;
    // The extension of this file: the sources run as .ts, the package as .js.
    const url = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new Worker(url, { name: `worker ${setup.index}`, workerData: setup });
    this.channel = new ThreadChannel(this.#thread);
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<Error>();
    this.channel.handle('ready', () => ready.resolve());
    const timer = setTimeout(() => this.terminate(), START_TIMEOUT_MS).unref();
    let failure: Error | undefined;
    this.#thread.on('error', (error: Error) => {
      failure = error;
    });
    this.#thread.on('exit', () => {
      clearTimeout(timer);
      const reason = failure ?? new Error('the thread ended');
      this.hasJoined = false;
      this.isListening = false;
      this.channel.close(reason);
      ready.reject(reason);
      ended.resolve(reason);
    });
    this.ready = ready.promise.finally(() => clearTimeout(timer));
    // The reader of `ended` reports the failure too.
    this.ready.catch(() => undefined);
    this.ended = ended.promise;
  }

  /** Ends the thread with all its connections. */
  terminate(): void {
    void this.#thread.terminate();
  }
}
