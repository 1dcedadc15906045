import { CREDENTIALS } from '../../engine/problem/problem.ts';

/** Offsets of a text that hold a secret, in UTF-16 code units. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
}

/** The formats of well-known secrets, most of which have a prefix so that scanners can find them. */
export const SECRET_FORMATS: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:[\s\S]*?-----END (?:[A-Z]+ )*PRIVATE KEY-----)?/g,
  'a JSON Web Token': /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  'an AWS access key': /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g,
  'a GitHub token': /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g,
  'a GitLab token': /\bgl(?:pat|dt|rt|cbt|ptt)-[\w-]{20,}/g,
  'a Slack token': /\bxox[abeprs]-[\w-]{10,}/g,
  'a Stripe key': /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
  'a Google API key': /\bAIza[\w-]{35}/g,
  'a SendGrid key': /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  'a Vault token': /\bhv[bsr]\.[\w-]{24,}/g,
  'an npm token': /\bnpm_[A-Za-z0-9]{36}/g,
};

const SCHEME_VALUE = /\b(?:Basic|Bearer) +(?:\$\{\w+(?:\}|:-))?([^\s"',}$]{8,})/dgi;
/** The default of a variable that is named like a secret. */
const SECRET_DEFAULT = /\$\{\w*(?:SECRET|PASSW(?:OR)?D|_TOKEN|API_?KEY|PRIVATE_?KEY|_KEY):-([^}]+)\}/dgi;
/** The value of a key that is named like a secret, in YAML or JSON. */
const NAMED_VALUE =
  /(?:^|[\s{,"'])[\w-]*(?:token|secret|passw(?:or)?d|credentials?|authorization|[_-]key|apikey)["']?[ \t]*:[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s{[|>&*#][^\n,}]*)/dgim;
/** The location of a member, such as the token in the response of a login route. */
const JSON_POINTER = /^["']?(?:\/[A-Za-z_]{1,20})+["']?\s*$/;

/** Finds secrets by their formats in any text: credentials in URLs and headers, well-known tokens, and defaults of secret variables. */
export function findSecretFormats(text: string): SecretRange[] {
  const formats = [CREDENTIALS, ...Object.values(SECRET_FORMATS)].flatMap((format) =>
    [...text.matchAll(format)].map(({ index, 0: match }) => ({ start: index, end: index + match.length })),
  );
  return [...formats, ...findGroups(text, SECRET_DEFAULT), ...findGroups(text, SCHEME_VALUE)];
}

/** Finds the values of keys that are named like secrets, in a text that no parser can read. */
export function findNamedSecrets(text: string): SecretRange[] {
  return findGroups(text, NAMED_VALUE).filter(({ start, end }) => {
    const value = text.slice(start, end);
    return !value.includes('${') && !isJsonPointer(value);
  });
}

export function isJsonPointer(text: string): boolean {
  return JSON_POINTER.test(text);
}

/** Returns the ranges of the first group of each match. */
function findGroups(text: string, pattern: RegExp): SecretRange[] {
  return [...text.matchAll(pattern)].flatMap(({ indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0];
    return start === end ? [] : [{ start, end }];
  });
}

/** Returns the starts and ends of the ranges in turn, in ascending order and without overlaps. */
export function joinRanges(ranges: readonly SecretRange[]): Uint32Array {
  const offsets: number[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = offsets.at(-1);
    if (last === undefined || start > last) offsets.push(start, end);
    else offsets[offsets.length - 1] = Math.max(last, end);
  }
  return Uint32Array.from(offsets);
}

/** Returns a part of a text with a dot in place of each character of a secret; see `joinRanges`. Line breaks stay. */
export function redactRanges(text: string, secrets: Uint32Array, from = 0, to = text.length): string {
  let redacted = '';
  let at = from;
  for (let index = 0; index < secrets.length; index += 2) {
    const start = Math.max(from, secrets[index] ?? 0);
    if (start >= to) break;
    const end = Math.min(to, secrets[index + 1] ?? 0);
    if (end <= from) continue;
    redacted += text.slice(at, start) + text.slice(start, end).replaceAll(/[^\n\r]/g, '•');
    at = end;
  }
  return redacted + text.slice(at, to);
}
