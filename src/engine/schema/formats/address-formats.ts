const DECIMAL_OCTET = /^(?:0|[1-9]\d{0,2})$/;
const HEX_GROUP = /^[0-9A-Fa-f]{1,4}$/;
/** The longest form: six groups of four digits, and an IPv4 address. */
const MAX_IPV6_CHARACTERS = 45;
const GROUPS = 8;

/** `dotted-quad` of RFC 2673 section 3.2: four decimal numbers up to 255, without leading zeros. */
export function isIpv4(text: string): boolean {
  const octets = text.length > 15 ? [] : text.split('.');
  return octets.length === 4 && octets.every((octet) => DECIMAL_OCTET.test(octet) && Number(octet) <= 255);
}

/** An address of RFC 4291 section 2.2, also with an IPv4 address at its end. It has no zone. */
export function isIpv6(text: string): boolean {
  if (text.length > MAX_IPV6_CHARACTERS) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const counts = halves.map((half, index) => countGroups(half, index === halves.length - 1));
  if (counts.includes(undefined)) return false;
  const count = counts.reduce<number>((sum, groups) => sum + (groups ?? 0), 0);
  return halves.length === 2 ? count < GROUPS : count === GROUPS;
}

/** Counts the 16-bit groups of a part of an address; `undefined` if one is invalid. */
function countGroups(text: string, isLast: boolean): number | undefined {
  if (text === '') return 0;
  const groups = text.split(':');
  const hasIpv4 = isLast && groups.at(-1)?.includes('.') === true;
  if (hasIpv4 && !isIpv4(groups.pop() ?? '')) return undefined;
  return groups.every((group) => HEX_GROUP.test(group)) ? groups.length + (hasIpv4 ? 2 : 0) : undefined;
}
