import type { AddressInfo } from 'node:net';
import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { CompileInput, PlannedManifest } from '../../engine/load.ts';
import { type Log, ThrottledWarning } from '../../engine/log/log.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { ListenAddress } from '../../engine/settings/address.ts';
import type { WarmUpTraffic } from '../../prove/offline/warm-up.ts';
import { CandidateWorkers } from './candidate-workers.ts';
import type { MainContext } from './main-context.ts';
import { ServingWorker } from './serving-worker.ts';
import { reserveAddress } from './shared-port.ts';
import { createSharedVerifiers, type SharedVerifiers } from './shared-verifiers.ts';
import { createTokenRefusalCheck } from './token-refusals.ts';
import { createWorkerTelemetry, type WorkerTelemetry } from './worker-telemetry.ts';

interface WorkerGroupOptions {
  /** The gateway of worker 0, in this thread. */
  readonly gateway: Gateway;
  readonly context: MainContext;
  readonly log: Log;
  /** The input of the plan of the gateway. */
  readonly input: CompileInput;
  readonly version: string;
  readonly descriptorLimit: number;
}

const CHECK_INTERVAL_MS = 1_000;

/** The workers that serve one plan: the gateway of this thread, and threads with gateways of their own. README.md describes their life. */
export class WorkerGroup {
  readonly telemetry: WorkerTelemetry;
  /** Compare requests with a candidate. */
  readonly candidates: CandidateWorkers;
  readonly #options: WorkerGroupOptions;
  readonly #workers = new Map<number, ServingWorker>();
  readonly #failures = new WorkerFailures();
  readonly #checkTimer: NodeJS.Timeout;
  readonly #validationWarning: ThrottledWarning;
  #validationHangs = 0;
  #lastValidationHang: Date | undefined;
  readonly #verifiers: SharedVerifiers;
  /** The input of the active plan, for workers that start later. */
  #input: CompileInput;
  #address: ListenAddress | undefined;
  #isDraining = false;
  #isClosing = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.telemetry = createWorkerTelemetry(options.gateway, options.log);
    this.#input = options.input;
    this.#validationWarning = new ThrottledWarning(
      options.log.logger,
      'a validation thread did not finish its work in time and is replaced',
    );
    const checkTokenRefusals = createTokenRefusalCheck(options.log.logger);
    this.#checkTimer = setInterval(() => {
      this.#reportValidationHangs();
      checkTokenRefusals(options.gateway.metrics.authorizations);
    }, CHECK_INTERVAL_MS).unref();
    this.#verifiers = createSharedVerifiers(options.context);
    this.#verifiers.add(this.plan);
    this.candidates = new CandidateWorkers({
      context: options.context,
      logger: options.log.logger,
      workers: () => this.#joined,
      addVerifier: (plan) => this.#verifiers.addCandidate(plan),
    });
  }

  get plan(): Plan {
    return this.#options.gateway.plan;
  }

  get status() {
    const { total: failures, hung, last: lastFailure } = this.#failures;
    const listening = this.#joined.filter(({ isListening }) => isListening);
    return {
      // The workers that serve, of `count`. The main thread is one of them.
      serving: 1 + listening.length,
      count: this.#options.context.count,
      /** The workers beside the main thread. */
      threads: [...this.#workers.values()].map(({ index, isListening, silentMs }) => ({
        index,
        isListening,
        silentMs,
      })),
      failures,
      hung,
      lastFailure,
      // When a validation thread was last replaced because its work took too long.
      lastValidationHang: this.#lastValidationHang,
    };
  }

  /** Starts the threads of the other workers, which takes most of a start. Rejects if one of them ends, or when the signal is aborted. */
  async start(stop: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(stop.reason);
    stop.addEventListener('abort', onAbort);
    try {
      stop.throwIfAborted();
      const count = this.#options.context.count - 1;
      const workers = Array.from({ length: count }, (_, index) => this.#start(index + 1));
      await Promise.race([Promise.all(workers.map(({ ready }) => ready)), aborted.promise]);
    } catch (error) {
      await this.close(0);
      throw error;
    } finally {
      stop.removeEventListener('abort', onAbort);
    }
  }

  /** Listens with all workers that have started. Returns the address. Rejects with an error of `net`. */
  async listen(): Promise<AddressInfo> {
    const workers = [...this.#workers.values()];
    try {
      const bound = await this.#listenFirst();
      // A worker that resolved the host name itself could listen at another address.
      this.#address = { host: bound.address, port: bound.port };
      await Promise.all(workers.map((worker) => this.#join(worker)));
      for (const worker of workers) this.#replaceWhenEnded(worker);
      return bound;
    } catch (error) {
      await this.close(0);
      throw error;
    }
  }

  /** Warms up the other workers. Rejects if one of them ends. */
  async warmUp(traffic: WarmUpTraffic): Promise<void> {
    await Promise.all(this.#joined.map((worker) => worker.request('warmUp', traffic)));
  }

  /** Compiles a plan in all workers. Rejects if one of them fails: then all keep the active plan. */
  async prepare({ plan, compileInput }: PlannedManifest): Promise<void> {
    const { gateway, context } = this.#options;
    this.#verifiers.add(plan);
    await Promise.all([
      gateway.prepare(plan),
      ...this.#joined.map((worker) => worker.prepare(compileInput, context.memory.buffers)),
    ]);
  }

  /** Activates a prepared plan in all workers. Resolves once all of them serve it. */
  async activate({ plan, compileInput }: PlannedManifest): Promise<void> {
    this.#input = compileInput;
    this.#options.gateway.activate(plan);
    await Promise.all(this.#joined.map((worker) => this.#activateIn(worker, compileInput)));
  }

  /** Closes each connection after its next response. All workers still accept connections. */
  drain(): void {
    this.#isDraining = true;
    this.#options.gateway.drain();
    for (const worker of this.#workers.values()) worker.drain();
  }

  /** Closes all listeners together, then waits for requests in flight as `Gateway.close` does. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#checkTimer);
    await Promise.all([
      this.#options.gateway.close(graceMs),
      ...Array.from(this.#workers.values(), (worker) => worker.close(graceMs)),
    ]);
    this.#options.context.bus.close();
  }

  /** The workers that take part in reloads. */
  get #joined(): ServingWorker[] {
    return [...this.#workers.values()].filter(({ hasJoined }) => hasJoined);
  }

  /** Listens with worker 0. Several listeners share a port, so another process must not take it at the same time. */
  async #listenFirst(): Promise<AddressInfo> {
    const { gateway, context } = this.#options;
    const { host, port } = this.plan.listen;
    if (context.count === 1) return gateway.listen();
    // A store that does not respond would otherwise let other processes wait for the address.
    await gateway.connect();
    const release = await reserveAddress(host, port);
    return gateway.listen().finally(release);
  }

  #start(index: number): ServingWorker {
    const { context, version, descriptorLimit } = this.#options;
    const { count, busName, memory } = context;
    const worker = new ServingWorker({
      index,
      count,
      version,
      descriptorLimit,
      busName,
      buffers: memory.buffers,
      input: this.#input,
    });
    this.#verifiers.serve(worker.channel);
    this.telemetry.attach(index, worker.channel);
    this.candidates.follow(worker);
    this.#workers.set(index, worker);
    return worker;
  }

  /** Lets a worker listen, once it has the active plan: reloads may have ended while it started. */
  async #join(worker: ServingWorker): Promise<void> {
    while (worker.input !== this.#input) {
      const input = this.#input;
      await worker.prepare(input, this.#options.context.memory.buffers);
      await worker.request('activate', input.checked.hash);
    }
    worker.hasJoined = true;
    await this.candidates.update(worker);
    if (this.#isDraining) worker.drain();
    if (this.#address !== undefined) await worker.listen(this.#address);
  }

  /** Never rejects: a worker that cannot activate the plan is replaced by one that starts with it. */
  async #activateIn(worker: ServingWorker, input: CompileInput): Promise<void> {
    try {
      // A worker that joined after the plan was prepared elsewhere does not have it.
      if (worker.input !== input) await worker.prepare(input, this.#options.context.memory.buffers);
      await worker.request('activate', input.checked.hash);
    } catch {
      await worker.terminate();
    }
  }

  #replaceWhenEnded(worker: ServingWorker): void {
    void worker.ended.then((reason) => {
      if (this.#isClosing) return;
      if (worker.isHung) this.#failures.hung += 1;
      this.#replace(worker.index, reason);
    });
  }

  #reportValidationHangs(): void {
    const { too_long: hangs } = this.telemetry.totals.validation;
    if (hangs <= this.#validationHangs) return;
    this.#validationHangs = hangs;
    this.#lastValidationHang = new Date();
    this.#validationWarning.add();
  }

  /** @throws Error after too many failures, which ends the process: another worker would end in the same way */
  #replace(index: number, err: Error): void {
    const { gateway, log } = this.#options;
    log.logger.error({ worker: index, err }, 'a worker ended unexpectedly and is replaced');
    this.#failures.add(err.message);
    this.telemetry.forget(index);
    gateway.forgetWorker(index);
    this.candidates.forgetWorker(index);
    const worker = this.#start(index);
    this.#replaceWhenEnded(worker);
    worker.ready.then(() => this.#join(worker)).catch(() => worker.terminate());
  }
}

const MAX_FAILURES = 3;
const WINDOW_MS = 60_000;

/** Counts the workers that ended unexpectedly. */
class WorkerFailures {
  total = 0;
  /** Those of them that did not respond. */
  hung = 0;
  last: { readonly reason: string; readonly at: Date } | undefined;
  /** The times of the latest failures. */
  #recent: number[] = [];

  /** @throws Error if too many workers ended within a minute */
  add(reason: string): void {
    const now = performance.now();
    this.total += 1;
    this.last = { reason, at: new Date() };
    this.#recent = [...this.#recent.filter((at) => now - at < WINDOW_MS), now];
    if (this.#recent.length >= MAX_FAILURES)
      throw new Error(`${MAX_FAILURES} workers ended unexpectedly within a minute; the last one: ${reason}`);
  }
}
