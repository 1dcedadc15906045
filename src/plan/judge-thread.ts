import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Path } from '../problem/finding.ts';
import type { Judged } from './plan.ts';
import type { SchemaRoot } from './schema-files.ts';

/** What the thread is asked. */
export interface Question {
  /** The name of a root; the root itself comes with the first question about it. */
  readonly rootId: number;
  readonly root: SchemaRoot | undefined;
  readonly path: Path;
  /** Handed over: it comes back with the answer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Answer {
  readonly faults: Judged['faults'];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** How long one body may hold the thread up. */
const MAX_MS = 30_000;
/** Of how many manifests the thread keeps the schemas: a reload leaves requests behind that began before it. */
export const KEPT_ROOTS = 2;

interface Job {
  readonly root: SchemaRoot;
  readonly path: Path;
  readonly body: Buffer;
  readonly resolve: (judged: Judged) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Judges a body in the one thread that there is for it, begun with the first body that needs it. One body at a
 * time: that bounds the memory that they take together. The body's memory is handed over, not copied, so `body`
 * is empty from now on. Memory shared by threads would need no handing over, but no collector counts it.
 */
export const judgeInThread = createJudgeThread(MAX_MS);

export interface JudgeThread {
  (root: SchemaRoot, path: Path, body: Buffer): Promise<Judged>;
  readonly status: () => JudgeThreadStatus;
}

export interface JudgeThreadStatus {
  /** Whether there is one: it begins with the first body that needs it. */
  readonly running: boolean;
  readonly busy: boolean;
  /** Bodies that wait for it. */
  readonly waiting: number;
}

/** @param maxMs how long one body may hold the thread up before it is ended, and another one begun */
export function createJudgeThread(maxMs: number): JudgeThread {
  const queue: Job[] = [];
  let thread: Thread | undefined;
  const work = () => {
    if (queue.length === 0 || thread?.isBusy) return;
    thread ??= new Thread(maxMs, work, () => {
      thread = undefined;
      work();
    });
    thread.take(queue.shift() as Job);
  };
  const judge = (root: SchemaRoot, path: Path, body: Buffer) =>
    new Promise<Judged>((resolve, reject) => {
      queue.push({ root, path, body, resolve, reject });
      work();
    });
  const status = () => ({ running: thread !== undefined, busy: thread?.isBusy ?? false, waiting: queue.length });
  return Object.assign(judge, { status });
}

class Thread {
  readonly #worker: Worker;
  readonly #maxMs: number;
  readonly #known: number[] = [];
  #job: Job | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** It was told to end: an answer may still come, but no job is given to it. */
  #isEnding = false;

  /**
   * @param onIdle it can take another job
   * @param onEnd it will never take another one
   */
  constructor(maxMs: number, onIdle: () => void, onEnd: () => void) {
    this.#maxMs = maxMs;
    // By this file's own ending: the sources run as they are, and so does what is built of them.
    const file = new URL(`./judge-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(file, { name: 'judge', execArgv: [] });
    this.#worker.on('message', (answer: Answer) => {
      this.#finish(answer);
      onIdle();
    });
    // What it throws, when it has no more memory say, is told to whoever waits for it.
    this.#worker.on('error', (error: Error) => this.#job?.reject(error));
    this.#worker.on('exit', () => {
      // It was ended for taking too long: the body that it had is gone with it.
      clearTimeout(this.#timer);
      this.#job?.resolve({ faults: [{ pointer: '', message: 'takes too long to check' }], body: undefined });
      onEnd();
    });
    // An idle thread does not keep the process alive; said last, since to listen is to keep it alive.
    this.#worker.unref();
  }

  get isBusy(): boolean {
    return this.#job !== undefined || this.#isEnding;
  }

  take(job: Job): void {
    this.#job = job;
    this.#timer = setTimeout(() => {
      this.#isEnding = true;
      void this.#worker.terminate();
    }, this.#maxMs);
    const rootId = idOf(job.root);
    const isKnown = this.#known.includes(rootId);
    if (!isKnown) this.#known.push(rootId);
    if (this.#known.length > KEPT_ROOTS) this.#known.shift();
    const bytes = ownBytes(job.body);
    const question: Question = { rootId, root: isKnown ? undefined : job.root, path: job.path, bytes };
    this.#worker.postMessage(question, [bytes.buffer]);
  }

  #finish({ faults, bytes }: Answer): void {
    const job = this.#job;
    this.#job = undefined;
    clearTimeout(this.#timer);
    job?.resolve({ faults, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) });
  }
}

/** Bytes whose memory is theirs alone. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = body;
  if (buffer instanceof ArrayBuffer && length > Buffer.poolSize) return new Uint8Array(buffer, byteOffset, length);
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
