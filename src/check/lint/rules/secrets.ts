import type { Path } from '../../../engine/problem/finding.ts';
import { roleEntries } from '../../../engine/tokens/token-entries.ts';
import { findingAt, rulesOf } from '../rule.ts';
import { SECRET_FORMATS } from '../secret-text.ts';

const LOOKS_SECRET = 'this looks like a secret; write ${NAME}, and set the variable NAME';

/** Rules for secrets in the files of the manifest, for values from the environment, and for texts that other gateways read differently. */
export const SECRET_RULES = [
  ...rulesOf('secrets', {
    'secret-default': {
      level: ['warning', 'minimal'],
      rationale: 'Every deployment that does not set the variable uses the same public secret.',
      *find({ document }) {
        for (const { text, path } of stringValues(document.value, (text) => text.includes('${'))) {
          const [, name] = SECRET_REFERENCE.exec(text) ?? [];
          if (name === undefined) continue;
          const message = `if ${name} is not set, the gateway uses the secret that this file contains; write \${${name}} without a default`;
          yield findingAt(path, message, { isSecret: true });
        }
      },
    },
    'secret-entropy': {
      level: ['warning', 'recommended'],
      rationale: 'Random-looking text is usually a key or a password, and anyone who can read the file has it.',
      *find({ document }) {
        const isLong = (text: string, path: Path) => text.length >= 24 && !isExempt(path);
        for (const { text, path } of stringValues(document.value, isLong, (path) => !isExempt(path)))
          if (text.split(/[^A-Za-z0-9+/=_-]+/).some(isRandom)) yield findingAt(path, LOOKS_SECRET, { isSecret: true });
      },
    },
    'secret-header': {
      level: ['warning', 'minimal'],
      rationale:
        'A key that the gateway sends to an upstream works like a password, and anyone who can read the file has it.',
      *find({ document }) {
        const isSetHeader = (text: string, [, , key, operation]: Path) =>
          key === 'requestHeaders' && operation === 'set' && !text.includes('${');
        for (const { text, path } of stringValues(document.value, isSetHeader, mayHoldHeaders)) {
          const isSecret = HEADER_NAME.test(String(path[4])) ? text.length >= 8 : HEADER_VALUE.test(text);
          if (isSecret) yield findingAt(path, LOOKS_SECRET, { isSecret });
        }
      },
    },
    'secret-token': {
      level: ['warning', 'minimal'],
      rationale:
        'The file is copied to repositories, images and backups, and anyone who can read one of them has the secret until it is revoked.',
      *find({ document }) {
        for (const { text, file } of [document, ...document.included])
          for (const [kind, pattern] of Object.entries(SECRET_FORMATS))
            for (const { index, 0: match } of text.matchAll(pattern))
              yield {
                location: { start: index, end: index + match.length, file },
                message: `this looks like ${kind}; revoke it at its issuer, and write \${NAME} instead`,
                isSecret: true,
              };
      },
    },
  }),
  ...rulesOf('manifest', {
    'claim-url': {
      level: ['warning', 'minimal'],
      rationale:
        'In a JSON Pointer each slash begins another member, so no token has this claim, and every caller is refused.',
      *find({ document }) {
        for (const { text, path } of stringValues(document.value, (text) => /^\/https?:\/\//.test(text), mayHoldValues))
          yield findingAt(path, `a claim with this name is never found; write /${text.slice(1).replaceAll('/', '~1')}`);
      },
    },
    'environment-message': {
      level: ['warning', 'minimal'],
      rationale:
        'The gateway never prints values from the environment, so clients get the default text instead of this one.',
      *find({ manifest, schemas, secrets }) {
        const texts: Path[] = [
          ...roleEntries(manifest.auth).map(({ rolePath }) => [...rolePath, 'message']),
          ['auth', 'realm'],
          ...schemas.flatMap(({ path, schema }) =>
            Object.hasOwn(schema, 'errorMessage') ? [[...path, 'errorMessage']] : [],
          ),
        ];
        for (const path of texts)
          if (secrets.isSecret(path))
            yield findingAt(path, 'clients do not receive a text from the environment; write the text in the manifest');
      },
    },
    'header-variable': {
      level: ['warning', 'recommended'],
      rationale: 'A header value has no variables of the request, so the receiver gets the name of the variable.',
      *find({ document }) {
        const isHeader = (text: string, path: Path) => HEADER_MAPS.has(path.at(-2)) && REQUEST_VARIABLE.test(text);
        for (const { text, path } of stringValues(document.value, isHeader, mayHoldValues)) {
          const [variable] = REQUEST_VARIABLE.exec(text) ?? [];
          yield findingAt(path, `"${variable}" is sent as it is; write a fixed value, or remove the header`);
        }
      },
    },
  }),
];

/** A reference to a variable that is named like a secret, with a default. */
const SECRET_REFERENCE =
  /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*(?:SECRET|PASSWORD|PASSWD|_TOKEN|API_?KEY|PRIVATE_?KEY|_KEY)):-[^}]+\}/i;

/** True for schemas, paths, ids and public keys, which may look random without being secret. */
function isExempt([first, , third, fourth, fifth]: Path): boolean {
  if (first === 'routes')
    return ['body', 'params', 'query', 'headers', 'path', 'id', 'upstreamPath'].includes(String(third));
  return first === 'schemas' || (first === 'auth' && (fourth === 'jwks' || fifth === 'jwks'));
}

const mayHoldValues = (path: Path) => !isExempt(path);

const HEADER_MAPS: ReadonlySet<unknown> = new Set(['set', 'headers', 'responseHeaders']);
/** Variables of nginx and Kong, Caddy and KrakenD, and Envoy. */
const REQUEST_VARIABLE =
  /(?<!\$)\$(?:[a-z_]\w+|\([^)]+\))|(?<!\$)\{[\s{.]*[a-z_][\w. $-]*\}+|%[a-z_]{4,}(?:\([^)]*\))?%/i;

const HEX = /^[0-9a-f]{32,}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{24,}={0,2}$/;

function isRandom(word: string): boolean {
  if (HEX.test(word)) return entropyBits(word.toLowerCase()) > 3;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(word)).length;
  return BASE64.test(word) && kinds === 3 && !/[/_-].*[/_-].*[/_-]/.test(word) && entropyBits(word) > 4;
}

/** Returns the Shannon entropy of a text in bits per character. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}

function mayHoldHeaders([first = 'routes', , key = 'requestHeaders']: Path): boolean {
  return first === 'routes' && key === 'requestHeaders';
}

/** The names of headers that hold secrets, and the values of others. */
const HEADER_NAME = /(?:key|token|secret|password|passwd|credentials?|authorization)$/i;
const HEADER_VALUE = /^(?:Basic|Bearer) +\S{8,}$/i;

/**
 * Returns the strings of a manifest that match, before substitution. `isPart` is false for a list or a map whose strings are not needed.
 * Paths are valid only during a call: a manifest may have hundreds of thousands of strings.
 */
function stringValues(
  value: unknown,
  matches: (text: string, path: Path) => boolean,
  isPart: (path: Path) => boolean = () => true,
): { text: string; path: Path }[] {
  const found: { text: string; path: Path }[] = [];
  const path: (string | number)[] = [];
  const visit = (node: unknown) => {
    if (typeof node === 'string') {
      if (matches(node, path)) found.push({ text: node, path: [...path] });
    } else if (node === null || typeof node !== 'object' || !isPart(path)) return;
    else if (Array.isArray(node)) for (let index = 0; index < node.length; index += 1) visitMember(index, node[index]);
    else for (const key of Object.keys(node)) visitMember(key, (node as Record<string, unknown>)[key]);
  };
  const visitMember = (step: string | number, member: unknown) => {
    path.push(step);
    visit(member);
    path.pop();
  };
  visit(value);
  return found;
}
