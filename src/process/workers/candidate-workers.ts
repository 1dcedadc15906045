import { getOrCreate } from '../../engine/get-or-create.ts';
import type { CompileInput } from '../../engine/load.ts';
import type { Log } from '../../engine/log/log.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import type {
  CandidateManifest,
  ComparingWorkers,
  ComparisonDefinition,
  ComparisonListener,
} from '../../traffic/candidate/comparing-workers.ts';
import type { ServingWorker } from './serving-worker.ts';

interface CandidateWorkersOptions {
  readonly context: WorkerContext;
  readonly logger: Log['logger'];
  /** Returns the workers that have the active plan. */
  readonly workers: () => readonly ServingWorker[];
  /** Lets the other workers verify tokens by the verifier of a plan. */
  readonly addVerifier: (plan: Plan) => void;
}

/** A comparison that all workers make, or none. */
interface WantedComparison {
  readonly input: CompileInput;
  readonly definition: ComparisonDefinition;
}

/** The candidate of one worker. */
interface WorkerState {
  /** The input of the candidate that the worker has compiled last. */
  input: CompileInput | undefined;
  comparison: WantedComparison | undefined;
  /** Resolves after all earlier requests to the worker. Never rejects. */
  idle: Promise<void>;
}

/** The comparisons that the other workers make with a candidate. */
export class CandidateWorkers implements ComparingWorkers {
  readonly #options: CandidateWorkersOptions;
  readonly #states = new WeakMap<ServingWorker, WorkerState>();
  #wanted: WantedComparison | undefined;
  #listener: ComparisonListener | undefined;

  constructor(options: CandidateWorkersOptions) {
    this.#options = options;
  }

  get context(): WorkerContext {
    return this.#options.context;
  }

  listen(listener: ComparisonListener): void {
    this.#listener = listener;
  }

  async prepare({ plan, compileInput: input }: CandidateManifest): Promise<void> {
    this.#options.addVerifier(plan);
    await Promise.all(
      this.#options.workers().map(async (worker) => {
        try {
          await this.#enqueue(worker, (state) => this.#prepareIn(worker, state, input));
        } catch (error) {
          // The worker that replaces one that has ended compiles the candidate before it listens.
          if (worker.hasJoined) throw new Error(`worker ${worker.index} cannot prepare the candidate: ${error}`);
        }
      }),
    );
  }

  compare(input: CompileInput, definition: ComparisonDefinition): Promise<void> {
    this.#wanted = { input, definition };
    return this.#updateAll();
  }

  stop(): Promise<void> {
    this.#wanted = undefined;
    return this.#updateAll();
  }

  /** Receives the results of a worker that was started. */
  follow({ index, channel }: ServingWorker): void {
    channel.handle('results', ({ id, batch }) => this.#listener?.addResults(index, id, batch));
  }

  /** Lets a worker compare as all others do. Never rejects. */
  async update(worker: ServingWorker): Promise<void> {
    try {
      await this.#enqueue(worker, (state) => this.#bring(worker, state));
    } catch (error) {
      if (!worker.hasJoined) return;
      const { logger } = this.#options;
      logger.error({ worker: worker.index, reason: String(error) }, 'a worker does not compare with the candidate');
    }
  }

  /** Gives back everything that a worker held which has ended. */
  forgetWorker(index: number): void {
    this.#listener?.forgetWorker(index);
  }

  async #updateAll(): Promise<void> {
    await Promise.all(this.#options.workers().map((worker) => this.update(worker)));
  }

  /** Brings a worker to the comparison that is wanted. If that one is replaced meanwhile, another update follows. */
  async #bring(worker: ServingWorker, state: WorkerState): Promise<void> {
    const wanted = this.#wanted;
    if (state.comparison === wanted) return;
    if (wanted !== undefined && state.input !== wanted.input) await this.#prepareIn(worker, state, wanted.input);
    await worker.request('compare', wanted?.definition);
    state.comparison = wanted;
    // Without a comparison, the worker drops the candidate.
    if (wanted === undefined) state.input = undefined;
  }

  async #prepareIn(worker: ServingWorker, state: WorkerState, input: CompileInput): Promise<void> {
    const { buffers } = this.#options.context.memory;
    await worker.request('prepareCandidate', { input, buffers });
    state.input = input;
  }

  /** Sends one request after the other, so that the main thread knows which plan a worker has compiled last. */
  #enqueue(worker: ServingWorker, action: (state: WorkerState) => Promise<void>): Promise<void> {
    const state = getOrCreate(this.#states, worker, () => ({
      input: undefined,
      comparison: undefined,
      idle: Promise.resolve(),
    }));
    const done = state.idle.then(() => action(state));
    state.idle = done.catch(() => undefined);
    return done;
  }
}
