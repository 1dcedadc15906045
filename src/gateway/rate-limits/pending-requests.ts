/** Requests of a limit of failures without a response yet, by their counter. */
export class PendingRequests<Request> {
  readonly #byKey = new Map<string | undefined, Request[]>();

  add(key: string | undefined, request: Request): void {
    const requests = this.#byKey.get(key);
    if (requests === undefined) this.#byKey.set(key, [request]);
    else requests.push(request);
  }

  /** Removes a request. Returns those that were counted after it. */
  remove(key: string | undefined, request: Request): readonly Request[] {
    const requests = this.#byKey.get(key);
    const index = requests?.indexOf(request) ?? -1;
    if (requests === undefined || index === -1) return [];
    if (requests.length === 1) this.#byKey.delete(key);
    requests.splice(index, 1);
    return requests.slice(index);
  }
}
