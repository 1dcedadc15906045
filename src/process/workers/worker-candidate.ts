import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { CompileInput } from '../../engine/load.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { SharedMemory, type WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import { CandidateResults } from '../../traffic/candidate/candidate-results.ts';
import type { ComparisonDefinition } from '../../traffic/candidate/comparing-workers.ts';
import { LiveCandidate } from '../../traffic/candidate/live-candidate.ts';
import { MAX_ALL_CALLERS } from '../../traffic/comparison.ts';
import type { MainRequests, ServingRequests } from './messages.ts';
import type { ThreadChannel } from './thread-channel.ts';

/** The longest time that results wait in a worker, if the main thread is not busy. */
const SEND_INTERVAL_MS = 100;

interface WorkerCandidateOptions {
  readonly channel: ThreadChannel<MainRequests, ServingRequests>;
  readonly gateway: Gateway;
  readonly worker: WorkerContext;
  readonly compile: (input: CompileInput) => Promise<Plan>;
}

/** Compares the requests of a worker with a candidate, as the main thread wants it. */
export class WorkerCandidate {
  readonly #options: WorkerCandidateOptions;
  /** The candidate that was compiled last. */
  #plan: Plan | undefined;
  #definition: ComparisonDefinition | undefined;
  #live: LiveCandidate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WorkerCandidateOptions) {
    const { channel, compile, worker } = options;
    this.#options = options;
    channel.handle('prepareCandidate', async ({ input, buffers }) => {
      worker.memory.add(buffers);
      this.#plan = await compile(input);
    });
    channel.handle('compare', (definition) => {
      this.#definition = definition;
      if (definition === undefined) this.#plan = undefined;
      this.restart();
    });
  }

  /** Compares with the plan that is active now. Call it after each activation. */
  restart(): void {
    this.#live?.close();
    clearInterval(this.#timer);
    this.#live = this.#start(this.#definition, this.#plan);
    this.#options.gateway.observe(this.#live);
  }

  #start(definition: ComparisonDefinition | undefined, candidate: Plan | undefined): LiveCandidate | undefined {
    if (definition === undefined || candidate === undefined) return undefined;
    const { gateway, worker } = this.#options;
    const { plan: active } = gateway;
    const { id, activeHash, rules, buffers } = definition;
    // The main thread defines another comparison after each activation, or this worker has not activated that plan yet.
    if (active.hash !== activeHash) return undefined;
    // The main thread logs the first error. If it is busy, the callers that wait in all workers have one limit.
    const results = new CandidateResults(undefined, MAX_ALL_CALLERS / worker.count);
    const memory = new SharedMemory(buffers);
    this.#timer = this.#sendResults(id, results);
    return new LiveCandidate({ active, candidate, rules, worker: { ...worker, memory }, results });
  }

  /** Sends results in batches, one after the other. A main thread that is busy receives them later, in larger ones. */
  #sendResults(id: number, results: CandidateResults): NodeJS.Timeout {
    const { channel } = this.#options;
    let isSending = false;
    const send = async () => {
      const batch = isSending ? undefined : results.take();
      if (batch === undefined) return;
      isSending = true;
      // The other thread ends only with this one.
      await channel.request('results', { id, batch }).catch(() => undefined);
      isSending = false;
    };
    return setInterval(() => void send(), SEND_INTERVAL_MS).unref();
  }
}
