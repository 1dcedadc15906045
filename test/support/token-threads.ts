import { MessageChannel } from 'node:worker_threads';
import { compileFromInput, type PlannedManifest } from '../../src/engine/load.ts';
import { runToEnd } from '../../src/engine/plan/sliced-work.ts';
import { createSingleWorker, SharedMemory } from '../../src/engine/shared-memory/worker-context.ts';
import type { MethodVerifier } from '../../src/engine/tokens/verifier.ts';
import type { MainRequests } from '../../src/process/workers/messages.ts';
import { createMainThreadVerifier, createSharedVerifiers } from '../../src/process/workers/shared-verifiers.ts';
import { type ChannelPort, type Requests, ThreadChannel } from '../../src/process/workers/thread-channel.ts';

/** The verifiers of several workers. They run in one thread, but share only what threads share. */
export interface TokenThreads {
  /** The plan of the main thread, which keeps its verifier in memory. */
  readonly plan: PlannedManifest['plan'] | undefined;
  /** Compiles a manifest in all workers, and returns their verifiers, that of the main thread first. */
  readonly compile: (manifest: PlannedManifest) => readonly MethodVerifier[];
  /** Ends a worker without notice. */
  readonly terminate: (index: number) => void;
  /** Lets the main thread forget its verifiers, as after a reload whose old plan nobody uses there. */
  readonly forgetVerifiers: () => void;
}

export function createTokenThreads(count: number): TokenThreads {
  const context = createSingleWorker();
  const workers = Array.from({ length: count - 1 }, (_, index) => new TokenThread(index + 1));
  const serve = () => {
    const verifiers = createSharedVerifiers(context);
    for (const { main } of workers) verifiers.serve(main);
    return verifiers;
  };
  let verifiers = serve();
  let active: PlannedManifest['plan'] | undefined;
  return {
    get plan() {
      return active;
    },
    compile: (manifest) => {
      active = manifest.plan;
      verifiers.add(active);
      const others = workers.map((worker) => worker.compile(manifest, context.memory));
      return [verifierOf(manifest), ...others];
    },
    terminate: (index) => workers[index - 1]?.main.close(new Error('the thread ended')),
    forgetVerifiers: () => {
      verifiers = serve();
    },
  };
}

/** A worker other than that of the main thread. */
class TokenThread {
  readonly main: ThreadChannel<Requests, MainRequests>;
  readonly #channel: ThreadChannel<MainRequests, Requests>;
  readonly #index: number;
  readonly #memory = new SharedMemory();
  #plan: PlannedManifest['plan'] | undefined;

  constructor(index: number) {
    this.#index = index;
    const { port1, port2 } = new MessageChannel();
    this.main = new ThreadChannel(port1 as ChannelPort);
    this.#channel = new ThreadChannel(port2 as ChannelPort);
    for (const port of [port1, port2]) port.unref();
  }

  compile({ compileInput }: PlannedManifest, memory: SharedMemory): MethodVerifier {
    this.#memory.add(memory.buffers);
    const networkVerifier = (key: string) => createMainThreadVerifier(this.#channel, key);
    this.#plan = runToEnd(compileFromInput(structuredClone(compileInput), this.#plan, networkVerifier));
    const verifier = verifierOf({ plan: this.#plan });
    verifier.share({ memory: this.#memory, index: this.#index });
    return verifier;
  }
}

function verifierOf({ plan }: Pick<PlannedManifest, 'plan'>): MethodVerifier {
  if (plan.auth === undefined) throw new Error('the manifest has no auth');
  return plan.auth.verifier.methods[0] as MethodVerifier;
}
