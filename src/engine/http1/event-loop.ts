/** A task for the end of this turn of the event loop. */
export interface DeferredTask {
  runDeferred(): void;
}

let tasks: DeferredTask[] = [];

/** Runs a task after the process has read all bytes that the kernel has ready. All waiting tasks run in one turn of the event loop. */
export function defer(task: DeferredTask): void {
  if (tasks.length === 0) setImmediate(runTasks);
  tasks.push(task);
}

function runTasks(): void {
  const due = tasks;
  tasks = [];
  for (const task of due) task.runDeferred();
}

/** A source of bytes whose reads can be suspended. */
export interface PacedSource {
  /** Reads on, or pauses. */
  updateReads(): void;
}

/**
 * After this many bytes in one turn of the event loop, each source delivers one read: the system may have megabytes for each of hundreds
 * of sources.
 */
const TURN_BYTES = 16_777_216;
let turnBytes = 0;

function endTurn(): void {
  turnBytes = 0;
}

/** Chunks between two checks. Parsing them takes a few milliseconds. */
const CHUNKS_PER_CHECK = 4_096;
/** Below this average size, the chunks cost more to parse than their bytes. */
const SMALL_BYTES = 512;
/** The pause between two reads of suspended sources, in which the process does all other work. */
const REST_MS = 10;

const suspended: ReadPace[] = [];

/**
 * Suspends the reads of a source to the end of the turn if all sources together have delivered much, so that no other one waits long. It
 * also suspends a source whose small chunks would block the event loop: one turn can deliver megabytes, and in chunks of one byte these
 * take half a second to parse. Such sources take turns, with one read of one source every `REST_MS`.
 */
export class ReadPace implements DeferredTask {
  isSuspended = false;
  readonly #source: PacedSource;
  #chunks = 0;
  #bytes = 0;

  constructor(source: PacedSource) {
    this.#source = source;
  }

  /** Counts the latest read. @param chunks 0 if the body is not chunked */
  add(chunks: number, bytes: number): void {
    if (turnBytes === 0) setImmediate(endTurn);
    turnBytes += bytes;
    const isTurnOver = turnBytes >= TURN_BYTES;
    const areSmall = chunks > 0 && this.#hasSmallChunks(chunks, bytes);
    if (this.isSuspended || !(isTurnOver || areSmall)) return;
    this.isSuspended = true;
    this.#source.updateReads();
    if (!areSmall) defer(this);
    else if (suspended.push(this) === 1) setTimeout(resumeNext, REST_MS);
  }

  /** Reads on. */
  runDeferred(): void {
    this.isSuspended = false;
    this.#source.updateReads();
  }

  #hasSmallChunks(chunks: number, bytes: number): boolean {
    this.#chunks += chunks;
    this.#bytes += bytes;
    if (this.#chunks < CHUNKS_PER_CHECK) return false;
    const areSmall = this.#bytes < this.#chunks * SMALL_BYTES;
    this.#chunks = 0;
    this.#bytes = 0;
    return areSmall;
  }
}

function resumeNext(): void {
  suspended.shift()?.runDeferred();
  if (suspended.length > 0) setTimeout(resumeNext, REST_MS);
}

const BEAT_MS = 100;
/** A busy machine delays a beat by less. */
const MIN_MS = 250;

/** The clock of the machine, also in tests that replace it. */
const now = performance.now.bind(performance);

/**
 * The standstills of this thread: the machine did not run the process, or something blocked the event loop. Bytes and timeouts that
 * became due meanwhile wait together, so a failure then is no sign of a failing server.
 */
class Standstills {
  /** The number of standstills, but possibly without one that has just ended. */
  count = 0;
  readonly #listeners = new Set<(ms: number) => void>();
  #timer: NodeJS.Timeout | undefined;
  #beatAt = 0;

  /** True if the thread stood still after it had read this `count`. */
  hasHappenedSince(count: number): boolean {
    if (this.#timer !== undefined) this.#check();
    return this.count !== count;
  }

  /** Watches this thread while there is a listener, which receives the length of each standstill. Returns a function that stops it. */
  watch(listener: (ms: number) => void): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) this.#beatAt = now();
    this.#timer ??= setInterval(() => {
      this.#check();
      this.#beatAt = now();
    }, BEAT_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #check(): void {
    const checkedAt = now();
    const ms = checkedAt - this.#beatAt - BEAT_MS;
    if (ms < MIN_MS) return;
    this.#beatAt = checkedAt;
    this.count += 1;
    for (const listener of this.#listeners) listener(ms);
  }
}

export const standstills = new Standstills();

/**
 * A time limit on a peer. It restarts often, and reuses one timer, because a new timer for each request costs throughput. It expires
 * only after the process has read all sockets once more, and it runs once again if the process stood still meanwhile: then the peer's
 * bytes may be here, or could not arrive because the process had not done its own part.
 */
export class RestartableTimeout {
  readonly #ms: number;
  readonly #onExpired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  #state: 'stopped' | 'running' | 'expiring' = 'stopped';
  #standstills = 0;
  #isExtended = false;

  /** @param ms 0 for no limit */
  constructor(ms: number, onExpired: () => void) {
    this.#ms = ms;
    this.#onExpired = onExpired;
  }

  /** Starts the time limit, or restarts it. @param ms 0 for no limit */
  start(ms = this.#ms): this {
    this.#state = ms === 0 ? 'stopped' : 'running';
    if (ms === 0) return this;
    this.#standstills = standstills.count;
    this.#isExtended = false;
    if (this.#timerMs === ms) this.#timer?.refresh();
    else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#expire(), ms).unref();
      this.#timerMs = ms;
    }
    return this;
  }

  stop(): void {
    this.#state = 'stopped';
  }

  /** Stops the time limit permanently. */
  close(): void {
    clearTimeout(this.#timer);
    this.#state = 'stopped';
  }

  #expire(): void {
    if (this.#state !== 'running') return;
    if (!this.#isExtended && standstills.hasHappenedSince(this.#standstills)) {
      this.#isExtended = true;
      this.#timer?.refresh();
      return;
    }
    this.#state = 'expiring';
    setImmediate(() => {
      if (this.#state !== 'expiring') return;
      this.#state = 'stopped';
      this.#onExpired();
    });
  }
}
