/** A timer that fires later than this shows that the process did not run. Then the server on the same machine may not have run either. */
const STALL_MS = 5;
const MAX_EXTENSIONS = 2;

/** The decisions that began in one turn of the event loop. They share a timer. */
interface Batch {
  /** Called at the deadline, unless the decision was settled before. */
  readonly pending: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
  extensions: number;
}

/**
 * The time limit of decisions. A busy gateway must not take its own delay for a failure of the store: the time begins when the
 * commands of a turn of the event loop were written, begins again if the process did not run at its end, and a response that has
 * arrived by then counts.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  #current: Batch | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Begins the time of a decision, right after its command was sent. @returns a function that ends it */
  add(expire: () => void): () => void {
    const batch = this.#current ?? this.#begin();
    batch.pending.add(expire);
    return () => {
      batch.pending.delete(expire);
      if (batch.pending.size === 0 && batch !== this.#current) clearTimeout(batch.timer);
    };
  }

  #begin(): Batch {
    const batch: Batch = { pending: new Set(), timer: undefined, extensions: 0 };
    this.#current = batch;
    // The library writes the commands of a turn in such a callback too, before this one.
    setImmediate(() => {
      this.#current = undefined;
      if (batch.pending.size > 0) this.#arm(batch);
    });
    return batch;
  }

  #arm(batch: Batch): void {
    const dueAt = performance.now() + this.#timeoutMs;
    batch.timer = setTimeout(() => {
      if (performance.now() - dueAt > STALL_MS && batch.extensions < MAX_EXTENSIONS) {
        batch.extensions += 1;
        this.#arm(batch);
      } else this.#end(batch);
    }, this.#timeoutMs);
  }

  /** Reads the sockets once more before the decisions expire. */
  #end({ pending }: Batch): void {
    setImmediate(() => {
      for (const expire of pending) expire();
    });
  }
}
