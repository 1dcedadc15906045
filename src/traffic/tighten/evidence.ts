import type { LoggedRequest } from '../access-log/logged-request.ts';

/** The requests that support a proposal. Their number is weighted by the share of the lines that were logged. */
export interface Evidence {
  readonly requests: number;
  /** Distinct callers: by `subject`, otherwise by address. */
  readonly callers: number;
  /** True if there are more callers than were counted. */
  readonly hasMoreCallers: boolean;
  /** Milliseconds since the Unix epoch; `undefined` without a request. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** The names of the logs. */
  readonly logs: readonly string[];
}

/** The memory of one counter is bounded. */
const MAX_CALLERS = 10_000;

/** Counts requests. */
export class EvidenceCounter {
  #requests = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;
  #hasMoreCallers = false;
  readonly #callers = new Set<string>();
  readonly #logs = new Set<string>();

  add({ weight, time, subject, client, source }: LoggedRequest): void {
    this.#requests += weight;
    this.#from = Math.min(this.#from, time);
    this.#to = Math.max(this.#to, time);
    this.#logs.add(source);
    this.#addCaller(subject ?? client);
  }

  addAll(other: EvidenceCounter): void {
    this.#requests += other.#requests;
    this.#from = Math.min(this.#from, other.#from);
    this.#to = Math.max(this.#to, other.#to);
    this.#hasMoreCallers ||= other.#hasMoreCallers;
    for (const log of other.#logs) this.#logs.add(log);
    for (const caller of other.#callers) this.#addCaller(caller);
  }

  get evidence(): Evidence {
    const isEmpty = this.#from > this.#to;
    return {
      requests: Math.round(this.#requests),
      callers: this.#callers.size,
      hasMoreCallers: this.#hasMoreCallers,
      from: isEmpty ? undefined : this.#from,
      to: isEmpty ? undefined : this.#to,
      logs: [...this.#logs],
    };
  }

  #addCaller(caller: string | undefined): void {
    if (caller === undefined || this.#callers.has(caller)) return;
    if (this.#callers.size < MAX_CALLERS) this.#callers.add(caller);
    else this.#hasMoreCallers = true;
  }
}

export function sumEvidence(counters: Iterable<EvidenceCounter>): Evidence {
  const sum = new EvidenceCounter();
  for (const counter of counters) sum.addAll(counter);
  return sum.evidence;
}
