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
  /** The next one to have its turn stands first, in both. */
  readonly #routes = new Map<string, Map<string, Job[]>>();
  readonly #counts = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Jobs of a client, whatever their routes. */
  countOf(client: string): number {
    return this.#counts.get(client) ?? 0;
  }

  /** Jobs of a route, whatever their clients. */
  countOn(route: string): number {
    let count = 0;
    for (const jobs of this.#routes.get(route)?.values() ?? []) count += jobs.length;
    return count;
  }

  add(job: Job): void {
    const { route, client } = job;
    const clients = this.#routes.get(route) ?? new Map<string, Job[]>();
    const jobs = clients.get(client) ?? [];
    jobs.push(job);
    clients.set(client, jobs);
    this.#routes.set(route, clients);
    this.#count(client, 1);
  }

  /** True if a job waits whose route may have a turn. */
  hasNext(mayRun: (route: string) => boolean): boolean {
    return this.#next(mayRun) !== undefined;
  }

  /** Takes the next job whose route may have a turn. */
  take(mayRun: (route: string) => boolean): Job | undefined {
    const job = this.#next(mayRun);
    if (job === undefined) return undefined;
    this.remove(job);
    const clients = this.#routes.get(job.route);
    if (clients !== undefined) moveToEnd(clients, job.client);
    moveToEnd(this.#routes, job.route);
    return job;
  }

  /** False if the job does not wait. */
  remove(job: Job): boolean {
    const { route, client } = job;
    const clients = this.#routes.get(route);
    const jobs = clients?.get(client);
    const index = jobs?.indexOf(job) ?? -1;
    if (clients === undefined || jobs === undefined || index === -1) return false;
    jobs.splice(index, 1);
    if (jobs.length === 0) clients.delete(client);
    if (clients.size === 0) this.#routes.delete(route);
    this.#count(client, -1);
    return true;
  }

  #next(mayRun: (route: string) => boolean): Job | undefined {
    for (const [route, clients] of this.#routes) {
      if (!mayRun(route)) continue;
      const [jobs] = clients.values();
      return jobs?.[0];
    }
    return undefined;
  }

  #count(client: string, by: 1 | -1): void {
    this.#size += by;
    const count = this.countOf(client) + by;
    if (count === 0) this.#counts.delete(client);
    else this.#counts.set(client, count);
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
