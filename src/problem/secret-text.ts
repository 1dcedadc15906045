import { redactCredentials } from './redaction.ts';

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

/** The value of a key that is named like a secret, in YAML or JSON. */
const NAMED_VALUE =
  /(^|[\s{,"'])([\w-]*(?:token|secret|passw(?:or)?d|credentials?|authorization|[_-]key|apikey)["']?[ \t]*:[ \t]+)((?:"[^"\n]*"|'[^'\n]*'|[^\s{[|>&*#][^\n,}]*))/gim;
const SCHEME_VALUE = /\b(Basic|Bearer)( +)[^\s"',}]{8,}/gi;

/**
 * Redacts a manifest before it is displayed: credentials in URLs, well-known formats, and values that are named like secrets. References
 * to variables stay, because the text of a manifest does not have their values. Lines keep their length.
 */
export function redactManifestText(text: string): string {
  let redacted = redactCredentials(text);
  for (const format of Object.values(SECRET_FORMATS)) redacted = redacted.replaceAll(format, dots);
  return redacted
    .replaceAll(SECRET_DEFAULTS, (_reference, start: string, value: string) => `${start}${dots(value)}}`)
    .replaceAll(NAMED_VALUE, (match, before: string, key: string, value: string) =>
      value.includes('${') || JSON_POINTER.test(value) ? match : before + key + dots(value),
    )
    .replaceAll(
      SCHEME_VALUE,
      (match, scheme: string, space: string) => scheme + space + dots(match.slice(scheme.length + space.length)),
    );
}

const SECRET_DEFAULTS = /(\$\{\w*(?:SECRET|PASSW(?:OR)?D|_TOKEN|API_?KEY|PRIVATE_?KEY|_KEY):-)([^}]+)\}/gi;
/** The location of a member, such as the token in the response of a login route. */
const JSON_POINTER = /^["']?(?:\/[A-Za-z_]{1,20})+["']?\s*$/;

/** Keeps line breaks, and the spaces before a brace or a comment. */
function dots(text: string): string {
  const end = text.trimEnd().length;
  return text.slice(0, end).replaceAll(/[^\n\r]/g, '•') + text.slice(end);
}
