import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { getOrCreate } from '../get-or-create.ts';
import type { Path } from '../problem/finding.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import type { Violation } from '../schema/value-validator.ts';
import type { LoginErrorCode, LoginResponse, ResponseTokens, TokenLocations } from '../tokens/find-tokens.ts';
import type { FairQueueItem } from './fair-queue.ts';

/** A JSON text and the schema that it must meet. */
interface SchemaCheck {
  readonly path: Path;
  /** The end of the text; it starts at the end of the previous one. */
  readonly end: number;
}

/** A response to search for tokens. Its bytes are the decoded body, followed by the encoded body if it differs. */
export interface ResponseSearch extends Pick<LoginResponse, 'status' | 'reason' | 'headers'> {
  readonly locations: TokenLocations;
  /** The end of the decoded body. */
  readonly bodyEnd: number;
}

export interface ValidationWorkerRequest {
  /** Identifies the root; the root itself is sent with the first request that needs it. */
  readonly rootId: number | undefined;
  readonly root: SchemaRoot | undefined;
  readonly checks: readonly SchemaCheck[];
  readonly search: ResponseSearch | undefined;
  /** Transferred; the response transfers it back. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ValidationWorkerResponse {
  readonly violations: readonly (readonly Violation[])[];
  readonly searchResult: ResponseTokens | LoginErrorCode | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The number of manifests whose schemas a thread caches: after a reload, requests with the old plan are still running. */
export const MAX_CACHED_ROOTS = 2;

/** A job for another thread: texts of a body or of parameters to validate, or a response to search for tokens. */
export interface ValidationJob extends FairQueueItem {
  readonly root: SchemaRoot | undefined;
  readonly checks: readonly SchemaCheck[];
  readonly search?: ResponseSearch;
  /** Its memory is transferred to the thread, not copied. */
  readonly body: Buffer;
}

/** Receives the result; `undefined`: the thread was terminated, and the body is lost. */
type OnDone = (result: ValidationJobResult | Error | undefined) => void;

/** A thread that runs one job at a time, which limits the total memory. */
export class ValidationThread {
  readonly #worker: Worker;
  readonly #sentRootIds: number[] = [];
  #onDone: OnDone | undefined;
  #isEnding = false;

  /** @param onEnd called once, when the thread has terminated */
  constructor(onEnd: () => void) {
    // The extension of this file: sources run as `.ts`, the build as `.js`.
    const file = new URL(`./validation-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { name: 'validation', execArgv: [] });
    this.#worker.on('message', ({ bytes, ...results }: ValidationWorkerResponse) => {
      this.#done({ ...results, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) });
    });
    // The thread ran out of memory, for example.
    this.#worker.on('error', (error: Error) => {
      this.#isEnding = true;
      this.#done(error);
    });
    this.#worker.on('exit', () => {
      this.#isEnding = true;
      onEnd();
      this.#done(undefined);
    });
    // An idle thread must not keep the process alive. Listeners do, so this call follows them.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return this.#onDone === undefined && !this.#isEnding;
  }

  run({ root, checks, search, body }: ValidationJob, onDone: OnDone): void {
    this.#onDone = onDone;
    const bytes = unsharedBytes(body);
    const request: ValidationWorkerRequest = { ...this.#rootFields(root), checks, search, bytes };
    this.#worker.postMessage(request, [bytes.buffer]);
  }

  /** Returns the id of a root, and the root itself if the thread does not have it. */
  #rootFields(root: SchemaRoot | undefined): Pick<ValidationWorkerRequest, 'rootId' | 'root'> {
    if (root === undefined) return { rootId: undefined, root };
    const rootId = getOrCreate(rootIds, root, () => ++lastRootId);
    if (this.#sentRootIds.includes(rootId)) return { rootId, root: undefined };
    this.#sentRootIds.push(rootId);
    if (this.#sentRootIds.length > MAX_CACHED_ROOTS) this.#sentRootIds.shift();
    return { rootId, root };
  }

  /** Terminates the thread and its job: running JavaScript cannot be interrupted in another way. */
  end(): void {
    this.#isEnding = true;
    void this.#worker.terminate();
  }

  #done(result: Parameters<OnDone>[0]): void {
    const onDone = this.#onDone;
    this.#onDone = undefined;
    onDone?.(result);
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

const rootIds = new WeakMap<SchemaRoot, number>();
let lastRootId = 0;

/** The reason why a job did not run: the queue is full, its client's or route's share of it is, or the job waited too long. */
export type Overload = 'queue_full' | 'queue_share' | 'queue_wait';

export interface ValidationJobResult {
  readonly violations: ValidationWorkerResponse['violations'];
  /** The result of the search; `undefined` if there was none, or it did not finish. */
  readonly searchResult?: ResponseTokens | LoginErrorCode | undefined;
  /** The bytes of the job; `undefined` if they are lost. */
  readonly body: Buffer | undefined;
  /** The job did not run: nothing was validated. */
  readonly overload?: Overload;
}

/** A job in the pool: it waits, then runs, and ends once. */
export class PendingJob implements FairQueueItem {
  readonly job: ValidationJob;
  readonly route: string;
  readonly client: string;
  /** Limits the time in the queue, then the time of the run. */
  timer: NodeJS.Timeout | undefined;
  thread: ValidationThread | undefined;
  isAbandoned = false;
  /** The start of the wait, then the start of the run. */
  since = performance.now();
  readonly #settled = Promise.withResolvers<ValidationJobResult>();

  constructor(job: ValidationJob) {
    this.job = job;
    this.route = job.route;
    this.client = job.client;
  }

  get result(): Promise<ValidationJobResult> {
    return this.#settled.promise;
  }

  end(result: ValidationJobResult | Error): void {
    clearTimeout(this.timer);
    if (result instanceof Error) this.#settled.reject(result);
    else this.#settled.resolve(result);
  }
}
