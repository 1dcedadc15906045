import { promises, type RecordWithTtl } from 'node:dns';
import { DnsError } from './resolution-status.ts';

type Family = 4 | 6;

export interface DnsResult {
  readonly ips: readonly string[];
  /** The shortest time to live of the addresses, in seconds. */
  readonly ttlSeconds: number;
  /** The address families for which no name server responded. */
  readonly unresolvedFamilies: readonly Family[];
}

/** The time limit of a lookup on the network. */
const TIMEOUT_MS = 5_000;
/** The time limit after the last waiter has left: a slow name can still resolve, and a name server that hangs still counts as failed. */
const ABANDONED_TIMEOUT_MS = 1_000;

/** The timeouts of c-ares for the first try and for each try. */
const TRY_MS = 1_000;
const MAX_TRY_MS = 2_000;
const TRIES = 3;

/** The resolution delay of RFC 8305 section 3. */
const RESOLUTION_DELAY_MS = 50;

const NOT_FOUND = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** After these codes the query tries the next search domain, as glibc does. After a timeout it fails: the name may exist. */
const TRY_NEXT_DOMAIN = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);

const FAMILIES = [4, 6] as const;

/** One lookup of a name: queries both address families in parallel, and the full names in sequence. */
export class DnsLookup {
  /** Called with the addresses of one family if the query for the other one continues. */
  readonly #onPartialResult: (result: DnsResult) => unknown;
  /** A channel of its own, so that the lookup can be cancelled separately. */
  readonly #channel = new promises.Resolver({ timeout: TRY_MS, tries: TRIES, maxTimeout: MAX_TRY_MS });
  readonly #startedAt = performance.now();
  readonly #expired = Promise.withResolvers<DnsResult>();
  #timer: NodeJS.Timeout | undefined;
  #partial: DnsResult | undefined;

  /** @param servers empty for those of the machine, which c-ares reads from `/etc/resolv.conf` */
  constructor(servers: readonly string[], onPartialResult: (result: DnsResult) => unknown) {
    this.#onPartialResult = onPartialResult;
    if (servers.length > 0) this.#channel.setServers(servers);
  }

  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** @param names the full names, in order @throws DnsError, also after `cancel` */
  async run(names: readonly string[]): Promise<DnsResult> {
    this.limit(true);
    try {
      return await Promise.race([this.#query(names), this.#expired.promise]);
    } finally {
      this.cancel();
    }
  }

  /** Sets the time limit. @param isAwaited true if a connection waits for the lookup */
  limit(isAwaited: boolean): void {
    clearTimeout(this.#timer);
    const expire = () => {
      if (this.#partial === undefined) this.#expired.reject(new DnsError('ETIMEOUT'));
      else this.#expired.resolve(this.#partial);
    };
    const ms = isAwaited ? Math.max(TIMEOUT_MS - this.ageMs, 0) : ABANDONED_TIMEOUT_MS;
    // A response that is here counts, also if the process did not run until now.
    this.#timer = setTimeout(() => setImmediate(expire), ms).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#channel.cancel();
  }

  async #query(names: readonly string[]): Promise<DnsResult> {
    let hasServerFailed = false;
    for (const name of names) {
      const results = await this.#queryFamilies(name);
      const result = resultOf(results);
      if (result.ips.length > 0) return result;
      const codes = results.map(({ code = 'ENODATA' }) => code).filter((code) => !NOT_FOUND.has(code));
      const final = codes.find((code) => !TRY_NEXT_DOMAIN.has(code));
      if (final !== undefined) throw new DnsError(final === 'ETIMEOUT' ? 'ETIMEOUT' : 'EAI_AGAIN');
      hasServerFailed ||= codes.length > 0;
    }
    throw new DnsError(hasServerFailed ? 'EAI_AGAIN' : 'ENOTFOUND');
  }

  async #queryFamilies(name: string) {
    const queries = FAMILIES.map((family) => this.#queryFamily(name, family));
    const first = resultOf([await Promise.race(queries)]);
    const report = () => {
      this.#partial = first;
      this.#onPartialResult(first);
    };
    const timer = first.ips.length > 0 ? setTimeout(report, RESOLUTION_DELAY_MS).unref() : undefined;
    const results = await Promise.all(queries);
    clearTimeout(timer);
    return results;
  }

  async #queryFamily(name: string, family: Family): Promise<FamilyResult> {
    const [channel, options] = [this.#channel, { ttl: true } as const];
    try {
      const records = await (family === 4 ? channel.resolve4(name, options) : channel.resolve6(name, options));
      return { family, records };
    } catch (error) {
      return { family, records: [], code: (error as NodeJS.ErrnoException).code };
    }
  }
}

interface FamilyResult {
  readonly family: Family;
  readonly records: readonly RecordWithTtl[];
  readonly code?: string | undefined;
}

function resultOf(results: readonly FamilyResult[]): DnsResult {
  const records = results.flatMap(({ records }) => records);
  const resolved = results.filter(({ code }) => code === undefined || NOT_FOUND.has(code)).map(({ family }) => family);
  return {
    ips: records.map(({ address }) => address),
    ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    unresolvedFamilies: FAMILIES.filter((family) => !resolved.includes(family)),
  };
}
