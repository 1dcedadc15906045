import { UsageByKey } from '../gateway/fairness/client-key.ts';
import { nextInRotation, RoundRobinQueue } from '../gateway/fairness/round-robin-queue.ts';
import { getOrCreate } from '../get-or-create.ts';

export interface FairQueueItem {
  readonly route: string;
  readonly client: string;
}

/** A queue in which routes, and the clients of each, take turns: many jobs delay those of others by at most one job. */
export class FairQueue<Job extends FairQueueItem> {
  /** In the order of their turns. */
  readonly #routes = new Map<string, RoundRobinQueue<string, Job>>();
  readonly #clients = new UsageByKey<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countForClient(client: string): number {
    return this.#clients.of(client);
  }

  countForRoute(route: string): number {
    return this.#routes.get(route)?.size ?? 0;
  }

  add(job: Job): void {
    const { route, client } = job;
    getOrCreate(this.#routes, route, () => new RoundRobinQueue<string, Job>()).enqueue(client, job);
    this.#clients.add(client, 1);
    this.#size += 1;
  }

  hasNext(mayRun: (route: string) => boolean): boolean {
    return this.#routes.keys().some(mayRun);
  }

  /** Removes and returns the next job whose route may run. */
  take(mayRun: (route: string) => boolean): Job | undefined {
    const [, jobs] = nextInRotation(this.#routes, mayRun) ?? [];
    const job = jobs?.dequeue();
    if (job !== undefined) this.#release(job);
    return job;
  }

  /** Removes a job. Returns false if it is not queued. */
  remove(job: Job): boolean {
    const isRemoved = this.#routes.get(job.route)?.remove(job.client, job) === true;
    if (isRemoved) this.#release(job);
    return isRemoved;
  }

  #release({ route, client }: Job): void {
    if (this.countForRoute(route) === 0) this.#routes.delete(route);
    this.#clients.add(client, -1);
    this.#size -= 1;
  }
}
