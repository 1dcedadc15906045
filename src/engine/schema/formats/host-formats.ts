import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

const LDH_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const ASCII = /^[\0-\x7f]*$/;
const MAX_LABEL_OCTETS = 63;
const MAX_NAME_OCTETS = 253;
/** The dots between internationalized labels (RFC 3490 section 3.1). */
const DOTS = /[.\u3002\uff0e\uff61]/;
/** A last label that is no number: Node would read a last label of digits as an IPv4 address. */
const SUFFIX = '.x';
/** The blocks of right-to-left scripts, without the digits that are written from left to right. */
const RIGHT_TO_LEFT = /[\u0590-\u06EF\u06FA-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const STARTS_WITH_DIGIT = /^[0-9\u06F0-\u06F9]/;
const JOINERS = /[\u200C\u200D]/g;
/** A letter before a mark: a label cannot begin with a mark. Neither lets a joiner after it be valid. */
const BASES = ['', 'a', '\u0627'];

export const HOST_FORMATS = {
  email: isEmail,
  'idn-email': isIdnEmail,
  hostname: isHostname,
  'idn-hostname': isIdnHostname,
  ipv4: isIPv4,
  ipv6: isIpv6,
} as const;

/**
 * A host name of RFC 1123 section 2.1: labels of up to 63 letters, digits and hyphens, 253 characters in total, no trailing
 * dot. A label that begins with `xn--` must be an A-label (RFC 5890 section 2.3.2.1).
 */
function isHostname(text: string): boolean {
  return isMailDomain(text) && text.split('.').every((label) => toUnicodeLabel(label) !== undefined);
}

/** A host name that may have U-labels of IDNA 2008 (RFC 5890 section 2.3.2.1), up to 253 octets in its ASCII form. */
function isIdnHostname(text: string): boolean {
  // Each character takes at least one octet, so a longer text needs no conversion, which costs more.
  if (text.length > MAX_NAME_OCTETS) return false;
  const labels = text.split(DOTS).map(toUnicodeLabel);
  if (labels.includes(undefined)) return false;
  const asciiLabels = labels.map((label = '') => toAscii(label) ?? label);
  // In a name with a right-to-left label, no label begins with a digit (RFC 5893 section 2).
  const isBidi = labels.some((label = '') => RIGHT_TO_LEFT.test(label));
  return (
    asciiLabels.join('.').length <= MAX_NAME_OCTETS &&
    asciiLabels.every(isLdhLabel) &&
    !(isBidi && labels.some((label = '') => STARTS_WITH_DIGIT.test(label)))
  );
}

/** A domain of a mail address: a host name whose `xn--` labels are not decoded (RFC 5321 section 4.1.2). */
function isMailDomain(text: string): boolean {
  return text.length <= MAX_NAME_OCTETS && text.split('.').every(isLdhLabel);
}

function isLdhLabel(label: string): boolean {
  return label.length <= MAX_LABEL_OCTETS && LDH_LABEL.test(label);
}

/** Returns a label as Unicode; `undefined` if it is neither an LDH label, an A-label nor a U-label. */
function toUnicodeLabel(label: string): string | undefined {
  const folded = label.toLowerCase();
  if (!ASCII.test(label)) return isUnicodeLabel(label) ? label : undefined;
  if (!isLdhLabel(label) || !folded.startsWith('xn--')) return isLdhLabel(label) ? folded : undefined;
  const unicode = domainToUnicode(folded + SUFFIX).slice(0, -SUFFIX.length);
  return !ASCII.test(unicode) && isUnicodeLabel(unicode) && toAscii(unicode) === folded ? unicode : undefined;
}

function isUnicodeLabel(label: string): boolean {
  return isIdnaLabel(label) && toAscii(label) !== undefined && hasValidJoiners(label);
}

/** Checks each joiner alone (RFC 5892 appendix A.1 and A.2), because `domainToASCII` checks only the first of a label. */
function hasValidJoiners(label: string): boolean {
  const joiners = label.match(JOINERS) ?? [];
  const parts = label.split(JOINERS);
  return joiners.every((joiner, index) =>
    BASES.some((base) => toAscii(base + parts[index] + joiner + parts[index + 1]) !== undefined),
  );
}

/** Converts with UTS 46, which also checks joiners and right-to-left text; `undefined` if the name is invalid. */
function toAscii(name: string): string | undefined {
  const ascii = domainToASCII(name + SUFFIX);
  return ascii === '' ? undefined : ascii.slice(0, -SUFFIX.length);
}

/** An address of RFC 4291 section 2.2 without a zone. */
export function isIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

/** The code points that RFC 5892 section 2 derives as valid from the properties of Unicode. */
const VALID =
  /[[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]--[\p{Changes_When_NFKC_Casefolded}\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Noncharacter_Code_Point}\u{1100}-\u{11FF}\u{A960}-\u{A97F}\u{D7B0}-\u{D7FF}\u{20D0}-\u{20FF}\u{1D100}-\u{1D24F}\u{640}\u{7FA}\u{302E}\u{302F}\u{3031}-\u{3035}\u{303B}]]/v;
/** Hyphens, the exceptions of section 2.6 that are always valid, and the code points that `CONTEXT_RULES` restricts. */
const EXCEPTION = /[\-\u{DF}\u{3C2}\u{6FD}\u{6FE}\u{F0B}\u{3007}\u{B7}\u{375}\u{5F3}\u{5F4}\u{30FB}\u{200C}\u{200D}]/v;
const ALL_VALID = new RegExp(`^(?:${VALID.source}|${EXCEPTION.source})+$`, 'v');

/** The rules of RFC 5892 appendix A.3 to A.9. A label that contains a match is invalid. */
const CONTEXT_RULES: readonly RegExp[] = [
  // MIDDLE DOT only between two l.
  /(?<!l)\u{B7}|\u{B7}(?!l)/v,
  // GREEK KERAIA only before a Greek letter.
  /\u{375}(?!\p{Script=Greek})/v,
  // GERESH and GERSHAYIM only after a Hebrew letter.
  /(?<!\p{Script=Hebrew})[\u{5F3}\u{5F4}]/v,
  // KATAKANA MIDDLE DOT only in a label with a Japanese letter.
  /^[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*\u{30FB}[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]*$/v,
  // Arabic-Indic digits and extended ones are not mixed.
  /[\u{660}-\u{669}].*[\u{6F0}-\u{6F9}]|[\u{6F0}-\u{6F9}].*[\u{660}-\u{669}]/v,
];

/** True if a label has the code points of a U-label in allowed places (RFC 5891 section 4.2), but for joiners and right-to-left text. */
function isIdnaLabel(label: string): boolean {
  return (
    ALL_VALID.test(label) &&
    label.normalize('NFC') === label &&
    !/^-|-$|^..--|^\p{M}/v.test(label) &&
    !CONTEXT_RULES.some((rule) => rule.test(label))
  );
}

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
function isEmail(text: string): boolean {
  return isMailbox(text, DOT_STRING, QUOTED_STRING, isMailDomain);
}

/** As `isEmail`, with characters outside of ASCII in the local part and U-labels in the domain (RFC 6531 section 3.3). */
function isIdnEmail(text: string): boolean {
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
  return /^IPv6:/i.test(inside) ? isIpv6(inside.slice('IPv6:'.length)) : isIPv4(inside);
}
