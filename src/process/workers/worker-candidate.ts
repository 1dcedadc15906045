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

/** Compares the requests of a worker with a candidate, as the main thread wants it. Call `restart` after each activation. */
export function createWorkerCandidate({ channel, gateway, worker, compile }: WorkerCandidateOptions) {
  /** The candidate that was compiled last. */
  let plan: Plan | undefined;
  let definition: ComparisonDefinition | undefined;
  let live: LiveCandidate | undefined;
  let timer: NodeJS.Timeout | undefined;
  channel.handle('prepareCandidate', async ({ input, buffers }) => {
    worker.memory.add(buffers);
    plan = await compile(input);
  });
  channel.handle('compare', (wanted) => {
    definition = wanted;
    if (wanted === undefined) plan = undefined;
    restart();
  });
  return { restart };

  /** Compares with the plan that is active now. */
  function restart(): void {
    live?.close();
    clearInterval(timer);
    live = start();
    gateway.observe(live);
  }

  function start(): LiveCandidate | undefined {
    if (definition === undefined || plan === undefined) return undefined;
    const { plan: active } = gateway;
    const { id, activeHash, rules, buffers } = definition;
    // The main thread defines another comparison after each activation, or this worker has not activated that plan yet.
    if (active.hash !== activeHash) return undefined;
    // The main thread logs the first error. If it is busy, the callers that wait in all workers have one limit.
    const results = new CandidateResults(undefined, MAX_ALL_CALLERS / worker.count);
    const memory = new SharedMemory(buffers);
    timer = sendResults(id, results);
    return new LiveCandidate({ active, candidate: plan, rules, worker: { ...worker, memory }, results });
  }

  /** Sends results in batches, one after the other. A main thread that is busy receives them later, in larger ones. */
  function sendResults(id: number, results: CandidateResults): NodeJS.Timeout {
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
