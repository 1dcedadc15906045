import type { AddressInfo } from 'node:net';
import type { Gateway } from '../gateway/gateway.ts';
import type { CompileInput, PlannedManifest } from '../load.ts';
import type { Log } from '../log/log.ts';
import type { Plan } from '../plan/plan.ts';
import type { ListenAddress } from '../plan/settings/address.ts';
import { CandidateWorkers } from './candidate-workers.ts';
import type { MainContext } from './main-context.ts';
import type { ServingRequest } from './messages.ts';
import { reserveAddress } from './reserve-address.ts';
import { ServingWorker } from './serving-worker.ts';
import { SharedVerifiers } from './shared-verifiers.ts';
import { WorkerFailures } from './worker-failures.ts';
import { WorkerTelemetry } from './worker-telemetry.ts';

/** The workers and their failures. */
export interface WorkerStatus {
  /** The number of workers that serve, of `count`. The main thread is one of them. */
  readonly serving: number;
  readonly count: number;
  /** Workers that ended unexpectedly. */
  readonly failures: number;
  /** Why the last one ended, and when; `undefined` if none did. */
  readonly lastFailure: { readonly reason: string; readonly at: Date } | undefined;
}

export interface WorkerGroupOptions {
  /** The gateway of worker 0, in this thread. */
  readonly gateway: Gateway;
  readonly context: MainContext;
  readonly log: Log;
  /** The input of the plan of the gateway. */
  readonly input: CompileInput;
  readonly version: string;
  readonly descriptorLimit: number;
}

/** A worker that does not respond in this time is replaced. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Workers that have not closed this long after the end of the grace period are terminated. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The workers that serve one plan: the gateway of this thread, and threads with gateways of their own. */
export class WorkerGroup {
  readonly telemetry: WorkerTelemetry;
  /** Compare requests with a candidate. */
  readonly candidates: CandidateWorkers;
  readonly #options: WorkerGroupOptions;
  readonly #workers = new Map<number, ServingWorker>();
  readonly #failures = new WorkerFailures();
  readonly #verifiers: SharedVerifiers;
  /** The input of the active plan, for workers that start later. */
  #input: CompileInput;
  #address: ListenAddress | undefined;
  #isClosing = false;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.telemetry = new WorkerTelemetry(options.gateway, options.log);
    this.#input = options.input;
    this.#verifiers = new SharedVerifiers(options.context);
    this.#verifiers.add(this.plan);
    this.candidates = new CandidateWorkers({
      context: options.context,
      logger: options.log.logger,
      workers: () => this.#joined,
      addVerifier: (plan) => this.#verifiers.addCandidate(plan),
      send: (worker, ...request) => this.#request(worker, ...request),
    });
  }

  get plan(): Plan {
    return this.#options.gateway.plan;
  }

  get status(): WorkerStatus {
    const { total: failures, last: lastFailure } = this.#failures;
    const listening = this.#joined.filter(({ isListening }) => isListening);
    return { serving: 1 + listening.length, count: this.#options.context.count, failures, lastFailure };
  }

  /** Starts the workers and listens. Returns the address. Rejects with an error of `net`, or if a worker cannot start. */
  async listen(): Promise<AddressInfo> {
    const { gateway, context } = this.#options;
    const { listen } = this.plan;
    const release = context.count > 1 ? await reserveAddress(listen.host, listen.port) : undefined;
    try {
      const workers = Array.from({ length: context.count - 1 }, (_, index) => this.#start(index + 1));
      await Promise.all(workers.map(({ ready }) => ready));
      const bound = await gateway.listen();
      this.#address = { ...listen, port: bound.port };
      await Promise.all(workers.map((worker) => this.#join(worker)));
      for (const worker of workers) this.#replaceWhenEnded(worker);
      return bound;
    } catch (error) {
      await this.close(0);
      throw error;
    } finally {
      release?.();
    }
  }

  /** Compiles a plan in all workers. Rejects if one of them fails: then all keep the active plan. */
  async prepare({ plan, compileInput }: PlannedManifest): Promise<void> {
    this.#verifiers.add(plan);
    await Promise.all([
      this.#options.gateway.prepare(plan),
      ...this.#joined.map((worker) =>
        this.#prepareIn(worker, compileInput).catch((error: unknown) => {
          throw new Error(`worker ${worker.index} cannot prepare the manifest: ${messageOf(error)}`);
        }),
      ),
    ]);
  }

  /** Activates a prepared plan in all workers. Resolves once all of them serve it. */
  async activate({ plan, compileInput }: PlannedManifest): Promise<void> {
    this.#input = compileInput;
    this.#options.gateway.activate(plan);
    await Promise.all(this.#joined.map((worker) => this.#activateIn(worker, compileInput, plan.hash)));
  }

  /** Closes each connection after its next response. All workers still accept connections. */
  drain(): void {
    this.#options.gateway.drain();
    for (const { channel } of this.#workers.values()) channel.notify('drain', undefined);
  }

  /** Closes all listeners together, then waits for requests in flight as `Gateway.close` does. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all([
      this.#options.gateway.close(graceMs),
      ...Array.from(this.#workers.values(), (worker) => closeWorker(worker, graceMs)),
    ]);
    this.#options.context.bus.close();
  }

  /** The workers that take part in reloads. */
  get #joined(): ServingWorker[] {
    return [...this.#workers.values()].filter(({ hasJoined }) => hasJoined);
  }

  #start(index: number): ServingWorker {
    const { context, version, descriptorLimit } = this.#options;
    const { count, busName, memory } = context;
    const setup = { index, count, version, descriptorLimit, busName, buffers: memory.buffers, input: this.#input };
    const worker = new ServingWorker(setup);
    this.#verifiers.serve(worker.channel);
    this.telemetry.attach(index, worker.channel);
    this.candidates.follow(worker);
    this.#workers.set(index, worker);
    return worker;
  }

  /** Lets a worker listen, once it has the active plan: reloads may have ended while it started. */
  async #join(worker: ServingWorker): Promise<void> {
    for (let { input } = worker; input !== this.#input; ) {
      input = this.#input;
      await this.#prepareIn(worker, input);
      await this.#request(worker, 'activate', input.checked.hash);
    }
    worker.hasJoined = true;
    await this.candidates.update(worker);
    if (this.#address !== undefined) await this.#request(worker, 'listen', this.#address);
    worker.isListening = true;
  }

  #prepareIn(worker: ServingWorker, input: CompileInput): Promise<void> {
    return this.#request(worker, 'prepare', { input, buffers: this.#options.context.memory.buffers });
  }

  /** Never rejects: a worker that cannot activate the plan is replaced by one that starts with it. */
  async #activateIn(worker: ServingWorker, input: CompileInput, hash: string): Promise<void> {
    try {
      // A worker that joined after the plan was prepared elsewhere does not have it.
      if (worker.input !== input) await this.#prepareIn(worker, input);
      await this.#request(worker, 'activate', hash);
    } catch {
      worker.terminate();
    }
  }

  /** Terminates a worker that does not respond in time. */
  async #request(worker: ServingWorker, ...[name, value]: ServingRequest): Promise<void> {
    const timer = setTimeout(() => worker.terminate(), RESPONSE_TIMEOUT_MS).unref();
    try {
      await worker.channel.request(name, value as never);
      if (name === 'prepare') worker.input = value.input;
    } finally {
      clearTimeout(timer);
    }
  }

  #replaceWhenEnded(worker: ServingWorker): void {
    void worker.ended.then((reason) => {
      if (!this.#isClosing) this.#replace(worker.index, reason.message);
    });
  }

  /** @throws Error after too many failures, which ends the process: another worker would end in the same way */
  #replace(index: number, reason: string): void {
    const { gateway, log } = this.#options;
    log.logger.error({ worker: index, reason }, 'a worker ended unexpectedly and is replaced');
    this.#failures.add(reason);
    this.telemetry.forget(index);
    gateway.forgetWorker(index);
    this.candidates.forgetWorker(index);
    const worker = this.#start(index);
    this.#replaceWhenEnded(worker);
    worker.ready.then(() => this.#join(worker)).catch(() => worker.terminate());
  }
}

async function closeWorker(worker: ServingWorker, graceMs: number): Promise<void> {
  const timer = setTimeout(() => worker.terminate(), graceMs + CLOSE_TIMEOUT_MS);
  await worker.channel.request('close', graceMs).catch(() => undefined);
  clearTimeout(timer);
  worker.terminate();
  await worker.ended;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
