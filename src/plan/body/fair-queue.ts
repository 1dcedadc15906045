import { nextInRotation, RoundRobinQueue } from '../../fairness/round-robin-queue.ts';
import { UsageByKey } from '../../fairness/usage-by-key.ts';

/** A job that waits: of which route, for which client. */
export interface FairQueueItem {
  readonly route: string;
  readonly client: string;
}

/**
 * A queue in which routes take turns, and the clients of a route among themselves: a route or a client with many jobs
 * delays its own, and no others by more than one.
 */
export class FairQueue<Job extends FairQueueItem> {
  /** The route whose turn is next comes first. */
  readonly #routes = new Map<string, RoundRobinQueue<string, Job>>();
  readonly #clients = new UsageByKey<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns how many jobs of a client wait, on any route. */
  countForClient(client: string): number {
    return this.#clients.of(client);
  }

  /** Returns how many jobs of a route wait, of any client. */
  countForRoute(route: string): number {
    return this.#routes.get(route)?.size ?? 0;
  }

  add(job: Job): void {
    const { route, client } = job;
    const jobs = this.#routes.get(route) ?? new RoundRobinQueue<string, Job>();
    jobs.enqueue(client, job);
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
    const [, jobs] = nextInRotation(this.#routes, mayRun) ?? [];
    const job = jobs?.dequeue();
    if (job !== undefined) this.#forget(job);
    return job;
  }

  /** Returns false if the job does not wait. */
  remove(job: Job): boolean {
    const isRemoved = this.#routes.get(job.route)?.remove(job.client, job) === true;
    if (isRemoved) this.#forget(job);
    return isRemoved;
  }

  #forget({ route, client }: Job): void {
    if (this.countForRoute(route) === 0) this.#routes.delete(route);
    this.#clients.add(client, -1);
    this.#size -= 1;
  }
}
