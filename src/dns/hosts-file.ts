import { isIP } from 'node:net';

/** Addresses by name, as `hosts(5)` writes them: a name may stand on several lines. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(ip) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (known === undefined) hosts.set(key, [ip]);
      else known.push(ip);
    }
  }
  return hosts;
}
