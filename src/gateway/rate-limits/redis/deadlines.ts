/** A decision that a store makes. */
export interface PendingDecision {
  /** Called at the deadline, unless the decision was settled before. */
  expire(): void;
}

/** The decisions that began in one turn of the event loop. They share a timer. */
interface Batch {
  readonly pending: Set<PendingDecision>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The time limit of decisions. The time begins when the commands of a turn of the event loop were written, and a response that has
 * arrived at its end counts: a busy gateway must not take its own delay for a failure of the store.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  #current: Batch | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Begins the time of a decision, right after its command was sent. @returns a function that ends it */
  add(decision: PendingDecision): () => void {
    const batch = this.#current ?? this.#begin();
    batch.pending.add(decision);
    return () => {
      batch.pending.delete(decision);
      if (batch.pending.size === 0 && batch !== this.#current) clearTimeout(batch.timer);
    };
  }

  #begin(): Batch {
    const batch: Batch = { pending: new Set(), timer: undefined };
    this.#current = batch;
    // The library writes the commands of a turn in such a callback too, before this one.
    setImmediate(() => {
      this.#current = undefined;
      if (batch.pending.size > 0) batch.timer = setTimeout(() => this.#end(batch), this.#timeoutMs);
    });
    return batch;
  }

  /** Reads the sockets once more before the decisions expire. */
  #end({ pending }: Batch): void {
    setImmediate(() => {
      for (const decision of pending) decision.expire();
    });
  }
}
