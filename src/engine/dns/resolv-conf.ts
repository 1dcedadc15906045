import { isIP } from 'node:net';

/** The settings of `resolv.conf(5)` that decide which names are looked up, and where. */
export interface ResolvConf {
  /** Empty to let c-ares find them. */
  readonly servers: readonly string[];
  readonly search: readonly string[];
  /** A name with fewer dots is looked up in the search domains first. */
  readonly ndots: number;
}

const MAX_SERVERS = 8;
/** glibc allows more than six since 2.26. The limit bounds the lookups of one name. */
const MAX_SEARCH = 16;
const MAX_NDOTS = 15;

export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [key, ...words] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (key === 'nameserver' && words[0] !== undefined && isIP(words[0]) !== 0) servers.push(words[0]);
    // The last `search` or `domain` line wins.
    else if (key === 'search' || key === 'domain') search = words.map((word) => word.replace(/\.$/, '').toLowerCase());
    else if (key === 'options') ndots = ndotsIn(words) ?? ndots;
  }
  // `setServers` drops the zone of a link-local address; c-ares reads it from the file itself.
  const isScoped = servers.some((server) => server.includes('%'));
  return {
    servers: isScoped ? [] : servers.slice(0, MAX_SERVERS),
    search: search.filter(Boolean).slice(0, MAX_SEARCH),
    ndots,
  };
}

function ndotsIn(options: readonly string[]): number | undefined {
  const [, digits] = options.map((option) => /^ndots:(\d{1,3})$/.exec(option)).find((match) => match !== null) ?? [];
  return digits === undefined ? undefined : Math.min(Number(digits), MAX_NDOTS);
}

/** Returns the full names to look up for a name, in order. A name with a trailing dot is already full. */
export function candidateNames(name: string, { search, ndots }: Pick<ResolvConf, 'search' | 'ndots'>): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const inDomains = search.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...inDomains] : [...inDomains, name];
}
