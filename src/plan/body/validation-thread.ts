import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Path } from '../../problem/finding.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import type { TokenLocations } from '../tokens/find-tokens.ts';
import type { LoginResponse } from '../tokens/login.ts';
import type { TokenSearchResult } from '../tokens/token-search.ts';
import type { Violation } from '../violation.ts';

/** A JSON text and the schema that it must meet. */
export interface SchemaCheck {
  readonly path: Path;
  /** Where the text ends; it begins where the one before ends. */
  readonly end: number;
}

/** A response in which tokens are looked for. Its bytes are the body, decoded, and behind it the body as sent where that is another. */
export interface ResponseSearch extends Pick<LoginResponse, 'status' | 'reason' | 'headers'> {
  readonly locations: TokenLocations;
  /** Where the decoded body ends. */
  readonly bodyEnd: number;
}

/** The work that a thread gets. */
export interface ValidationWorkerRequest {
  /** The name of a root; the root itself comes with the first question about it. */
  readonly rootId: number | undefined;
  readonly root: SchemaRoot | undefined;
  readonly checks: readonly SchemaCheck[];
  readonly search: ResponseSearch | undefined;
  /** Handed over: it comes back with the answer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ValidationWorkerResponse {
  /** The violations that each check found. */
  readonly violations: readonly (readonly Violation[])[];
  /** Of the search. */
  readonly searchResult: TokenSearchResult['result'];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Of how many manifests the thread keeps the schemas: a reload leaves requests behind that began before it. */
export const MAX_CACHED_ROOTS = 2;

/** Texts to validate, or to search. Their memory is handed to the thread, not copied. */
export interface ValidationTask {
  /** Of the checks. */
  readonly root: SchemaRoot | undefined;
  readonly checks: readonly SchemaCheck[];
  readonly search?: ResponseSearch;
  readonly body: Buffer;
}

/** `undefined`: the thread ended first, and the body with it. */
type OnDone = (
  result:
    | (Pick<ValidationWorkerResponse, 'violations' | 'searchResult'> & { readonly body: Buffer })
    | Error
    | undefined,
) => void;

/** A thread that validates one task at a time, which bounds the memory that they take together. */
export class ValidationThread {
  readonly #worker: Worker;
  readonly #known: number[] = [];
  #onDone: OnDone | undefined;
  #isEnding = false;

  /** @param onEnd called once, when the thread has ended */
  constructor(onEnd: () => void) {
    // By this file's own ending: the sources run as they are, and so does what is built of them.
    const file = new URL(`./validation-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { name: 'validation', execArgv: [] });
    this.#worker.on('message', ({ bytes, ...results }: ValidationWorkerResponse) => {
      this.#done({ ...results, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) });
    });
    // For example, the thread ran out of memory.
    this.#worker.on('error', (error: Error) => {
      this.#isEnding = true;
      this.#done(error);
    });
    this.#worker.on('exit', () => {
      this.#isEnding = true;
      onEnd();
      this.#done(undefined);
    });
    // An idle thread does not keep the process alive. A listener does, so this comes after them.
    this.#worker.unref();
  }

  get isFree(): boolean {
    return this.#onDone === undefined && !this.#isEnding;
  }

  run({ root, checks, search, body }: ValidationTask, onDone: OnDone): void {
    this.#onDone = onDone;
    const bytes = unsharedBytes(body);
    const question: ValidationWorkerRequest = { ...this.#introduce(root), checks, search, bytes };
    this.#worker.postMessage(question, [bytes.buffer]);
  }

  /** Names a root to the thread, with the root itself if the thread does not know it. */
  #introduce(root: SchemaRoot | undefined): Pick<ValidationWorkerRequest, 'rootId' | 'root'> {
    if (root === undefined) return { rootId: undefined, root };
    const rootId = idOf(root);
    if (this.#known.includes(rootId)) return { rootId, root: undefined };
    this.#known.push(rootId);
    if (this.#known.length > MAX_CACHED_ROOTS) this.#known.shift();
    return { rootId, root };
  }

  /** Ends the thread with what it does: no JavaScript can be interrupted otherwise. */
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

/** One read of a socket brings no more, but maybe the beginning of another request, in the same memory. */
const MAX_READ_BYTES = 65_536;

/** Bytes whose memory is theirs alone. */
function unsharedBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = body;
  if (buffer instanceof ArrayBuffer && length > MAX_READ_BYTES) return new Uint8Array(buffer, byteOffset, length);
  return new Uint8Array(body);
}

const rootIds = new WeakMap<SchemaRoot, number>();
let lastRootId = 0;

function idOf(root: SchemaRoot): number {
  const known = rootIds.get(root);
  if (known !== undefined) return known;
  lastRootId += 1;
  rootIds.set(root, lastRootId);
  return lastRootId;
}
