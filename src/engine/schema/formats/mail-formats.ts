import { isIdnHostname, isIpv4, isIpv6, isMailDomain } from './host-formats.ts';

const ATOM = "A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~";
const DOT_STRING = new RegExp(`^[${ATOM}.]+$`);
const INTERNATIONAL_DOT_STRING = new RegExp(`^[${ATOM}.\\u{80}-\\u{D7FF}\\u{E000}-\\u{10FFFF}]+$`, 'u');
const MISPLACED_DOT = /^\.|\.\.|\.$/;
const QUOTED_STRING = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
const INTERNATIONAL_QUOTED_STRING = /^"(?:[ !#-[\]-~\u{80}-\u{D7FF}\u{E000}-\u{10FFFF}]|\\[ -~])*"$/u;
/** RFC 5321 section 4.5.3.1.1. */
const MAX_LOCAL_OCTETS = 64;
/** A path has 256 octets with its angle brackets (RFC 5321 section 4.5.3.1.3). */
const MAX_OCTETS = 254;

/**
 * `Mailbox` of RFC 5321 section 4.1.2: dot-string or quoted string, then a domain or the literal of an IPv4 or IPv6 address.
 * The domain may be one label, and the address has at most 254 octets.
 */
export function isEmail(text: string): boolean {
  return isMailbox(text, DOT_STRING, QUOTED_STRING, isMailDomain);
}

/** As `isEmail`, with characters outside of ASCII in the local part and U-labels in the domain (RFC 6531 section 3.3). */
export function isIdnEmail(text: string): boolean {
  const isDomain = (domain: string) => isIdnHostname(domain.normalize('NFC'));
  return isMailbox(text, INTERNATIONAL_DOT_STRING, INTERNATIONAL_QUOTED_STRING, isDomain);
}

function isMailbox(text: string, dotString: RegExp, quoted: RegExp, isDomain: (domain: string) => boolean): boolean {
  if (text.length > MAX_OCTETS || Buffer.byteLength(text) > MAX_OCTETS) return false;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const domain = text.slice(at + 1);
  if (Buffer.byteLength(local) > MAX_LOCAL_OCTETS) return false;
  const isLocal = local.startsWith('"') ? quoted.test(local) : dotString.test(local) && !MISPLACED_DOT.test(local);
  return isLocal && (isDomain(domain) || isAddressLiteral(domain));
}

/** `address-literal` of RFC 5321 section 4.1.3. No general form is registered, so only the two of IP addresses are valid. */
function isAddressLiteral(domain: string): boolean {
  if (!domain.startsWith('[') || !domain.endsWith(']')) return false;
  const inside = domain.slice(1, -1);
  return /^IPv6:/i.test(inside) ? isIpv6(inside.slice('IPv6:'.length)) : isIpv4(inside);
}
