import { Holdings } from '../fairness/holdings.ts';
import { Turns, takeTurn } from '../fairness/turns.ts';

/** A job that waits: of which route, for which client. */
export interface Waiting {
  readonly route: string;
  readonly client: string;
}

/**
 * A queue in which routes take turns, and the clients of a route among themselves: a route or a client with many jobs
 * delays its own, and no others by more than one.
 */
export class FairQueue<Job extends Waiting> {
  /** The route whose turn is next comes first. */
  readonly #routes = new Map<string, Turns<string, Job>>();
  readonly #clients = new Holdings<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns how many jobs of a client wait, on any route. */
  countOf(client: string): number {
    return this.#clients.of(client);
  }

  /** Returns how many jobs of a route wait, of any client. */
  countOn(route: string): number {
    return this.#routes.get(route)?.size ?? 0;
  }

  add(job: Job): void {
    const { route, client } = job;
    const jobs = this.#routes.get(route) ?? new Turns<string, Job>();
    jobs.add(client, job);
    this.#routes.set(route, jobs);
    this.#clients.add(client, 1);
    this.#size += 1;
  }

  /** True if a job waits whose route may have a turn. */
  hasNext(mayRun: (route: string) => boolean): boolean {
    return this.#routes.keys().some(mayRun);
  }

  /** Takes the next job whose route may have a turn. */
  take(mayRun: (route: string) => boolean): Job | undefined {
    const [, jobs] = takeTurn(this.#routes, mayRun) ?? [];
    const job = jobs?.take();
    if (job !== undefined) this.#forget(job);
    return job;
  }

  /** Returns false if the job does not wait. */
  remove(job: Job): boolean {
    const isRemoved = this.#routes.get(job.route)?.delete(job.client, job) === true;
    if (isRemoved) this.#forget(job);
    return isRemoved;
  }

  #forget({ route, client }: Job): void {
    if (this.countOn(route) === 0) this.#routes.delete(route);
    this.#clients.add(client, -1);
    this.#size -= 1;
  }
}
