/** How many of the eight groups of an IPv6 address name its network: one client has all addresses of a /64. */
const NETWORK_GROUPS = 4;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Returns the key by which the clients of a shared resource are told apart: an IPv4 address, or the /64 of an IPv6 address. */
export function clientKey(address: string): string {
  if (!address.includes(':')) return address;
  const [, plain] = MAPPED.exec(address) ?? [];
  if (plain !== undefined) return plain;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = groupsOf(head);
  const behind = groupsOf(tail ?? '');
  while (groups.length + behind.length < 8) groups.push('0');
  return [...groups, ...behind].slice(0, NETWORK_GROUPS).join(':');
}

function groupsOf(text: string): string[] {
  // An IPv4 address at the end stands for two groups, which are never of the network.
  return text === ''
    ? []
    : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [normalizeGroup(group)]));
}

function normalizeGroup(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}
