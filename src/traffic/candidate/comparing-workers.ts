import type { CompileInput, PlannedManifest } from '../../engine/load.ts';
import type { WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import type { ResultBatch } from './candidate-results.ts';

/** A manifest that is compiled here, and that the other workers compile. */
export type CandidateManifest = Pick<PlannedManifest, 'plan' | 'compileInput'>;

/** The rules of a comparison, which are the same in all workers. */
export interface ComparisonRules {
  /** The share of the requests to compare, from 0 to 1. */
  readonly sample: number;
  /** False if the tokens of the requests must not leave the process. */
  readonly maySendTokens: boolean;
  /** The key of the hashes that select the sample and identify callers. */
  readonly salt: string;
}

/** A comparison of two plans, which all workers make together. It is plain data that a thread can receive. */
export interface ComparisonDefinition {
  /** Differs from those of all other comparisons of the process. */
  readonly id: number;
  readonly activeHash: string;
  readonly rules: ComparisonRules;
  /** The memory of the comparison by name. */
  readonly buffers: ReadonlyMap<string, SharedArrayBuffer>;
}

/** Receives the results of the other workers. */
export interface ComparisonListener {
  /** Adds the results of some requests. A worker sends the next ones only after this call. */
  addResults(workerIndex: number, id: number, batch: ResultBatch): void;
  /** Called when a worker has ended, after its last results. */
  forgetWorker(workerIndex: number): void;
}

/** The other workers of the process. Each one compares its own requests. */
export interface ComparingWorkers {
  /** The place of the main thread, which merges the results. */
  readonly context: WorkerContext;
  listen(listener: ComparisonListener): void;
  /** Compiles a candidate in all workers. Rejects if one of them fails. */
  prepare(candidate: CandidateManifest): Promise<void>;
  /** Resolves once all workers compare with a prepared candidate, and with nothing else. Never rejects. */
  compare(input: CompileInput, definition: ComparisonDefinition): Promise<void>;
  /** Resolves once no worker compares. Never rejects. */
  stop(): Promise<void>;
}
