import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Path } from '../problem/finding.ts';
import type { SchemaRoot } from '../schema/schema-walk.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { LoginErrorCode, LoginResponse, ResponseTokens, TokenLocations } from '../tokens/find-tokens.ts';
import type { FairQueueItem } from './fair-queue.ts';

/** The encoded path of a request, its query with the question mark, and its headers as received. */
export type SentParameters = readonly [path: string, query: string, headers: readonly string[]];

/** The work of a job: a JSON body and the path of its schema, the parameters of a request, or a response to search for tokens. */
type ValidationWork =
  | { readonly kind: 'body'; readonly path: Path }
  | {
      readonly kind: 'parameters';
      readonly routeIndex: number;
      readonly request: SentParameters;
    }
  | ResponseSearch;

/** A response to search for tokens. The bytes of its job are the decoded body, followed by the encoded body if it differs. */
export interface ResponseSearch extends Pick<LoginResponse, 'status' | 'reason' | 'headers'> {
  readonly kind: 'search';
  readonly locations: TokenLocations;
  /** The end of the decoded body. */
  readonly bodyEnd: number;
}

export interface ValidationWorkerRequest {
  /** The place of the schemas in the thread; they are sent with the first request that needs them. */
  readonly slot: number;
  readonly root: SchemaRoot | undefined;
  readonly work: ValidationWork;
  /** Transferred; the response transfers it back. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ValidationWorkerResponse {
  readonly violations: readonly Violation[];
  /** The result of a search. */
  readonly searchResult?: ResponseTokens | LoginErrorCode;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The number of manifests whose schemas a thread caches: after a reload, requests with the old plan are still running. */
const SLOTS = 2;

export interface ValidationJob extends FairQueueItem {
  /** The schemas; `undefined` for a search. */
  readonly root: SchemaRoot | undefined;
  readonly work: ValidationWork;
  /** Its memory is transferred to the thread, not copied. Empty for parameters. */
  readonly body: Buffer;
}

/** The reason why a job did not run: the queue is full, its client's or route's share of it is, or the job waited too long. */
export type Overload = 'queue_full' | 'queue_share' | 'queue_wait';

export interface ValidationJobResult extends Omit<ValidationWorkerResponse, 'bytes'> {
  /** The bytes of the job; `undefined` if they are lost. */
  readonly body: Buffer | undefined;
  /** The job did not run: nothing was validated. */
  readonly overload?: Overload;
}

/** A thread that runs one job at a time, which limits the total memory. */
export class ValidationThread<Job extends ValidationJob> {
  /** The running job. */
  job: Job | undefined;
  state: 'usable' | 'ending' | 'ended' = 'usable';
  readonly #worker: Worker;
  /** The schemas that the thread has. After a reload, the old ones must not stay in memory here. */
  readonly #sentRoots: WeakRef<SchemaRoot>[] = [];
  #lastSlot = SLOTS - 1;

  /** @param onDone called when a job is done, and once when the thread has ended. Without a result, the body of the job is lost. */
  constructor(onDone: (job: Job | undefined, result?: ValidationJobResult | Error) => void) {
    const done = (result?: ValidationJobResult | Error) => {
      const { job } = this;
      this.job = undefined;
      onDone(job, result);
    };
    // The extension of this file: sources run as `.ts`, the build as `.js`.
    const file = new URL(`./validation-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { name: 'validation', execArgv: [] });
    this.#worker.on('message', ({ bytes, ...results }: ValidationWorkerResponse) =>
      done({ ...results, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) }),
    );
    // The thread ran out of memory, for example.
    this.#worker.on('error', (error: Error) => {
      this.state = 'ending';
      done(error);
    });
    this.#worker.on('exit', () => {
      this.state = 'ended';
      done();
    });
    // An idle thread must not keep the process alive. Listeners do, so this call follows them.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return this.job === undefined && this.state === 'usable';
  }

  run(job: Job): void {
    this.job = job;
    const bytes = unsharedBytes(job.body);
    const request: ValidationWorkerRequest = { ...this.#schemasFor(job.root), work: job.work, bytes };
    this.#worker.postMessage(request, [bytes.buffer]);
  }

  /** Returns the slot of a root, and the root itself if the thread does not have it. */
  #schemasFor(root: SchemaRoot | undefined): Pick<ValidationWorkerRequest, 'slot' | 'root'> {
    if (root === undefined) return { slot: 0, root };
    const slot = this.#sentRoots.findIndex((sent) => sent.deref() === root);
    if (slot >= 0) return { slot, root: undefined };
    this.#lastSlot = (this.#lastSlot + 1) % SLOTS;
    this.#sentRoots[this.#lastSlot] = new WeakRef(root);
    return { slot: this.#lastSlot, root };
  }

  /** Terminates the thread and its job: running JavaScript cannot be interrupted in another way. */
  end(): void {
    this.state = 'ending';
    void this.#worker.terminate();
  }
}

/** The maximum of one socket read. Its memory may also contain the start of another request. */
const MAX_READ_BYTES = 65_536;

/** Returns the bytes in memory that nothing else uses. */
function unsharedBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = body;
  if (buffer instanceof ArrayBuffer && length > MAX_READ_BYTES) return new Uint8Array(buffer, byteOffset, length);
  return new Uint8Array(body);
}
