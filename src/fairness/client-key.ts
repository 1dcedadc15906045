/** The groups of an IPv6 address that identify its network: one client may have all addresses of a /64. */
const NETWORK_GROUPS = 4;
const IPV4_MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Returns the key that identifies a client: an IPv4 address, or the /64 of an IPv6 address. */
export function clientKey(address: string): string {
  if (!address.includes(':')) return address;
  const [, ipv4] = IPV4_MAPPED.exec(address) ?? [];
  if (ipv4 !== undefined) return ipv4;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = groupsOf(head);
  const lastGroups = groupsOf(tail ?? '');
  while (groups.length + lastGroups.length < 8) groups.push('0');
  return [...groups, ...lastGroups].slice(0, NETWORK_GROUPS).join(':');
}

function groupsOf(text: string): string[] {
  // An IPv4 address at the end stands for two groups, which never belong to the network.
  return text === ''
    ? []
    : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [normalizeGroup(group)]));
}

function normalizeGroup(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}
