import { isIP } from 'node:net';

/** Addresses by name, from `hosts(5)`. A name may be on several lines. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(ip) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const ips = hosts.get(key);
      if (ips === undefined) hosts.set(key, [ip]);
      else ips.push(ip);
    }
  }
  return hosts;
}
