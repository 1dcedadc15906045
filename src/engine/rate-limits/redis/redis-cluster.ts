import { type LinkOptions, type RedisAddress, type RedisConnection, RedisLink } from './redis-link.ts';
import { StoreError, storeErrorOf } from './store-error.ts';

/** Redis recommends at most 1,000 nodes. Redirects cannot cause more connections. */
const MAX_NODES = 1_000;
/** Keys that are tried to find one for each server. */
const MAX_PROBE_KEYS = 16_384;

/** Opens connections to all primaries of a cluster. @param node one of its nodes @throws StoreError */
export async function openCluster(node: RedisAddress, options: LinkOptions): Promise<RedisConnection> {
  const cluster = new ClusterConnection(options);
  try {
    await cluster.open(node);
    return cluster;
  } catch (error) {
    cluster.close();
    throw storeErrorOf(error);
  }
}

/** Connections to the primaries of a cluster. If one of them fails, all are closed, because the topology may have changed. */
class ClusterConnection implements RedisConnection {
  onLost: (error: StoreError) => void = () => undefined;
  probeKeys: readonly string[] = [];
  readonly #options: LinkOptions;
  readonly #links = new Map<string, Promise<RedisLink>>();
  /** The connection to the primary of each hash slot. */
  readonly #slots: (Promise<RedisLink> | undefined)[] = [];
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  async open(node: RedisAddress): Promise<void> {
    for (const { from, to, primary } of await readRanges(node, this.#options)) {
      const link = this.#linkTo(primary);
      for (let slot = from; slot <= to; slot += 1) this.#slots[slot] = link;
    }
    await Promise.all(this.#links.values());
    this.probeKeys = this.#findProbeKeys();
  }

  async send(command: readonly string[], key: string): Promise<unknown> {
    const slot = hashSlot(key);
    const link = this.#slots[slot];
    if (link === undefined) throw new StoreError('cluster');
    try {
      return await (await link).send(command);
    } catch (error) {
      return await this.#followRedirect(slot, command, error);
    }
  }

  close(): void {
    this.#fail(new StoreError('closed'));
  }

  /** Repeats a command on the server that an error names (Redis Cluster specification, redirection). @throws the error otherwise */
  async #followRedirect(slot: number, command: readonly string[], error: unknown): Promise<unknown> {
    const { message } = error as Error;
    const [, kind, host, port] = /^(MOVED|ASK) \d+ (\S+):(\d+)$/.exec(message) ?? [];
    if (host === undefined) throw error;
    const target = this.#linkTo({ host, port: Number(port) });
    // ASK is for this command only: the slot moves to another server, which does not own it yet.
    if (kind === 'MOVED') this.#slots[slot] = target;
    const link = await target;
    if (kind === 'ASK') link.send(['ASKING']).catch(() => undefined);
    return link.send(command);
  }

  #linkTo(address: RedisAddress): Promise<RedisLink> {
    const name = `${address.host}:${address.port}`;
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    if (this.#links.size >= MAX_NODES || this.#isClosed) return Promise.reject(new StoreError('cluster'));
    const opened = RedisLink.open(address, this.#options);
    this.#links.set(name, opened);
    opened.then(
      (link) => {
        if (this.#isClosed) link.close();
        else link.onLost = (error) => this.#fail(error);
      },
      (error) => this.#fail(storeErrorOf(error)),
    );
    return opened;
  }

  #findProbeKeys(): string[] {
    const keys = new Map<Promise<RedisLink>, string>();
    for (let index = 0; index < MAX_PROBE_KEYS && keys.size < this.#links.size; index += 1) {
      const key = `sg:rl:@probe:${index}`;
      const link = this.#slots[hashSlot(key)];
      if (link !== undefined && !keys.has(link)) keys.set(link, key);
    }
    return [...keys.values()];
  }

  #fail(error: StoreError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const opened of this.#links.values())
      opened.then(
        (link) => link.close(),
        () => undefined,
      );
    this.onLost(error);
  }
}

/** A range of hash slots, and the server that owns it. */
interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly primary: RedisAddress;
}

async function readRanges(node: RedisAddress, options: LinkOptions): Promise<SlotRange[]> {
  const link = await RedisLink.open(node, options);
  try {
    const response = await link.sendInTime(['CLUSTER', 'SLOTS']);
    if (!Array.isArray(response) || response.length === 0) throw new StoreError('cluster');
    return response.map((range) => parseRange(range, node));
  } finally {
    link.close();
  }
}

/** A server that does not know its own address leaves it empty. */
function parseRange(range: unknown, { host }: RedisAddress): SlotRange {
  const [from, to, primary] = Array.isArray(range) ? range : [];
  const [name, port] = Array.isArray(primary) ? primary : [];
  const isValid = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to < 16_384 && Number(port) > 0;
  if (!isValid) throw new StoreError('response');
  return { from, to, primary: { host: typeof name === 'string' && name !== '' ? name : host, port: Number(port) } };
}

/** The number of hash slots of a Redis Cluster. */
const SLOTS = 16_384;
/** CRC-16/XMODEM, of which the Redis Cluster specification takes the lower 14 bits. */
const POLYNOMIAL = 0x1021;

/** Returns the hash slot of a key of printable ASCII without braces, such as those of `SharedCounters`. */
export function hashSlot(key: string): number {
  let crc = 0;
  for (let index = 0; index < key.length; index += 1) {
    crc ^= key.charCodeAt(index) << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
  }
  return crc & (SLOTS - 1);
}
