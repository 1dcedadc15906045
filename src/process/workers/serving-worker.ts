import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CompileInput } from '../../engine/load.ts';
import type { ListenAddress } from '../../engine/settings/address.ts';
import type { MainRequests, ServingRequest, ServingRequests, SharedBuffers, WorkerSetup } from './messages.ts';
import { ThreadChannel } from './thread-channel.ts';

/** A worker that does not respond in this time is terminated. A large manifest takes seconds to compile on a busy machine. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** How often the heartbeat of a worker is checked. */
const CHECK_INTERVAL_MS = 500;
/** A worker without a heartbeat in this many checks hangs. Time would also pass while the process stands still. */
const MAX_MISSED_CHECKS = 10;
/** A terminated thread that has not ended after this time still holds its connections and its listener, and never ends. */
const TERMINATION_TIMEOUT_MS = 10_000;
/** A worker that has not closed this long after the end of the grace period is terminated. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Larger than the objects of the requests that are in flight at one time. V8's default takes 36 MB more in each worker. */
const YOUNG_GENERATION_MB = 12;

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
  /** True once the worker did not respond and was therefore terminated. */
  isHung = false;
  /** The time without a heartbeat; 0 if one came since the last check. */
  silentMs = 0;
  readonly #thread: Worker;

  constructor(setup: Omit<WorkerSetup, 'heartbeat'>) {
    this.index = setup.index;
    this.input = setup.input;
    // The extension of this file: the sources run as .ts, the package as .js.
    const url = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    const heartbeat = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#thread = new Worker(url, {
      name: `worker ${setup.index}`,
      workerData: { ...setup, heartbeat } satisfies WorkerSetup,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.channel = new ThreadChannel(this.#thread);
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<Error>();
    this.channel.handle('ready', () => ready.resolve());
    let failure: Error | undefined;
    const stopChecks = checkHeartbeat(heartbeat, (silentMs, isHung) => {
      this.silentMs = silentMs;
      if (!isHung) return;
      failure = new Error(`the thread did not respond for ${silentMs / 1_000} s and was terminated`);
      this.isHung = true;
      void this.terminate();
    });
    this.#thread.on('error', (error: unknown) => {
      failure ??= error instanceof Error ? error : new Error(String(error));
    });
    this.#thread.on('exit', (code) => {
      stopChecks();
      const reason = failure ?? new Error(`the thread ended with exit code ${code}`);
      this.hasJoined = false;
      this.isListening = false;
      this.channel.close(reason);
      ready.reject(failureOf(`worker ${this.index} cannot start`, reason));
      ended.resolve(reason);
    });
    this.ready = ready.promise;
    // The reader of `ended` reports the failure too.
    this.ready.catch(() => undefined);
    this.ended = ended.promise;
  }

  /** Compiles a plan. Rejects if that fails, and ends the thread if it takes too long. */
  async prepare(input: CompileInput, buffers: SharedBuffers): Promise<void> {
    try {
      await this.request('prepare', { input, buffers });
    } catch (error) {
      throw failureOf(`worker ${this.index} cannot compile the manifest`, error);
    }
    this.input = input;
  }

  async listen(address: ListenAddress): Promise<void> {
    await this.request('listen', address);
    this.isListening = true;
  }

  /** Closes each connection after its next response. */
  drain(): void {
    this.channel.notify('drain', undefined);
  }

  /** Closes the gateway of the worker, and ends the thread. A worker that serves nothing ends at once. */
  async close(graceMs: number): Promise<void> {
    if (this.isListening) await this.#request(graceMs + CLOSE_TIMEOUT_MS, 'close', graceMs).catch(() => undefined);
    await this.terminate();
  }

  /** Ends the thread with all its connections. Resolves when it has ended: until then it may still serve requests. */
  async terminate(): Promise<void> {
    void this.#thread.terminate();
    const timer = setTimeout(() => {
      throw new Error(`worker ${this.index} hangs and cannot be terminated`);
    }, TERMINATION_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** Sends a request. A worker that does not respond in time is terminated. */
  request(...request: ServingRequest): Promise<void> {
    return this.#request(RESPONSE_TIMEOUT_MS, ...request);
  }

  async #request(timeoutMs: number, ...[name, value]: ServingRequest): Promise<void> {
    const timer = setTimeout(() => void this.terminate(), timeoutMs);
    try {
      await this.channel.request(name, value as never);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Calls a function at each check, until the worker hangs. One that has not started yet gets the time of a request. Returns a function that ends the checks. */
function checkHeartbeat(heartbeat: Int32Array, onCheck: (silentMs: number, isHung: boolean) => void): () => void {
  let [last, missed] = [0, 0];
  const timer = setInterval(() => {
    const current = Atomics.load(heartbeat, 0);
    missed = current === last ? missed + 1 : 0;
    last = current;
    const limit = current === 0 ? RESPONSE_TIMEOUT_MS / CHECK_INTERVAL_MS : MAX_MISSED_CHECKS;
    if (missed >= limit) clearInterval(timer);
    onCheck(missed * CHECK_INTERVAL_MS, missed >= limit);
  }, CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function failureOf(text: string, cause: unknown): Error {
  return new Error(`${text}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}
