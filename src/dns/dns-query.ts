import type { RecordWithTtl, Resolver } from 'node:dns';
import { DnsError, type DnsErrorCode } from './dns-error.ts';

/** The response to a question: addresses of both families, or the reason why there is none. */
export interface DnsResult {
  readonly ips: readonly string[];
  /** The shortest time to live of the addresses, in seconds. */
  readonly ttlSeconds: number;
  /** Families that the name servers could not respond for. */
  readonly unresolvedFamilies: readonly (4 | 6)[];
}

export interface DnsQueryListener {
  /** One family has addresses and the other one takes its time (RFC 8305 section 3). */
  onPartialResult(found: DnsResult): void;
  onResult(found: DnsResult): void;
  onFailed(error: DnsError): void;
}

/** RFC 8305 section 3, the resolution delay. */
const OTHER_FAMILY_MS = 50;

const NOT_FOUND = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** After these the next search domain is tried, as glibc does; after no response at all the name could be another one. */
const TRY_NEXT_DOMAIN = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP']);

const FAMILIES = [4, 6] as const;

interface FamilyResult {
  readonly records: readonly RecordWithTtl[];
  readonly code: string | undefined;
}

/** Asks the name servers for the addresses of a name: of both families at once, of one full name after the other. */
export class DnsQuery {
  readonly #channel: Resolver;
  readonly #names: readonly string[];
  readonly #user: DnsQueryListener;
  #halves = new Map<4 | 6, FamilyResult>();
  #early: NodeJS.Timeout | undefined;
  #hasServerFailed = false;
  #isOver = false;

  constructor(channel: Resolver, names: readonly string[], user: DnsQueryListener) {
    this.#channel = channel;
    this.#names = names;
    this.#user = user;
    this.#ask(0);
  }

  /** Cancels it; the user hears nothing more. */
  stop(): void {
    this.#end();
    this.#channel.cancel();
  }

  #ask(index: number): void {
    const name = this.#names[index];
    if (name === undefined) {
      this.#fail(this.#hasServerFailed ? 'EAI_AGAIN' : 'ENOTFOUND');
      return;
    }
    this.#halves = new Map();
    const hear = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, records?: RecordWithTtl[]) => {
      if (this.#isOver) return;
      this.#halves.set(family, { records: records ?? [], code: error?.code });
      this.#learn(index);
    };
    this.#channel.resolve4(name, { ttl: true }, hear(4));
    this.#channel.resolve6(name, { ttl: true }, hear(6));
  }

  #learn(index: number): void {
    const found = this.#found();
    if (this.#halves.size < 2) {
      if (found.ips.length > 0)
        this.#early = setTimeout(() => this.#user.onPartialResult(found), OTHER_FAMILY_MS).unref();
      return;
    }
    if (found.ips.length > 0) {
      this.#end();
      this.#user.onResult(found);
      return;
    }
    const codes = [...this.#halves.values()].map(({ code = 'ENODATA' }) => code).filter((code) => !NOT_FOUND.has(code));
    const final = codes.find((code) => !TRY_NEXT_DOMAIN.has(code));
    if (final !== undefined) {
      this.#fail(final === 'ETIMEOUT' ? 'ETIMEOUT' : 'EAI_AGAIN');
      return;
    }
    if (codes.length > 0) this.#hasServerFailed = true;
    this.#ask(index + 1);
  }

  #found(): DnsResult {
    const records = [...this.#halves.values()].flatMap((half) => half.records);
    const isUnknown = (half: FamilyResult | undefined) =>
      half === undefined || (half.code !== undefined && !NOT_FOUND.has(half.code));
    return {
      ips: records.map(({ address }) => address),
      ttlSeconds: records.reduce((least, { ttl }) => Math.min(least, ttl), Number.POSITIVE_INFINITY),
      unresolvedFamilies: FAMILIES.filter((family) => isUnknown(this.#halves.get(family))),
    };
  }

  #fail(code: DnsErrorCode): void {
    this.#end();
    this.#user.onFailed(new DnsError(code));
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#early);
  }
}
