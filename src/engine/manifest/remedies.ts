import type { ErrorObject } from 'ajv';
import { isLoopback } from '../dns/loopback.ts';
import { fixDuration, fixSize } from './units.ts';
import { formatFlow } from './yaml-text.ts';

/** A value that does not match the pattern of its schema. */
interface InvalidText {
  readonly text: string;
  /** The title of the schema: `a duration`. */
  readonly noun: string;
  readonly pattern: string;
  /** Valid examples, as the end of a sentence. */
  readonly examples: string;
  /** True if messages may not contain the value. */
  readonly isSecret: boolean;
}

/** Returns the remedy for an invalid value, as the end of a sentence: the correct value for a usual mistake, or examples. */
export function textRemedy({ text, noun, pattern, examples, isSecret }: InvalidText): string {
  const part = noun === UPSTREAM_URL ? extraPartOf(text) : undefined;
  if (part !== undefined) return part;
  if (isSecret) return examples;
  if (UNITS[noun] !== undefined && /^[0-9]+$/.test(text)) return `, because it has no unit${examples}`;
  if (noun === 'a name' && text.includes('://')) return '; add the URL to "upstreams", and write its name';
  const [, name] = /^\$\(?([A-Za-z_]\w*)\)?$/.exec(text) ?? [];
  if (name !== undefined) return `; write \${${name}} for a variable of the environment`;
  const corrected = CORRECTIONS[noun]?.(text);
  const isCorrect = corrected !== undefined && new RegExp(pattern, 'u').test(corrected);
  return isCorrect ? `; write ${corrected}` : examples;
}

/** Returns the correct form of a size or a duration with a misspelt unit. */
export function fixUnit(noun: string, text: string): string | undefined {
  return UNITS[noun]?.(text);
}

type Correction = (text: string) => string | undefined;

const UPSTREAM_URL = 'an upstream URL';
// Of segments that a route may have: the schema would accept `/a//b` too.
const RELATIVE_PATH = /^(?:https?:\/\/[^/]*\/)?((?:[\w-][\w.~-]*|\{\w+\})(?:\/(?:[\w-][\w.~-]*|\{\w+\}))*(?:\/\*\*)?)$/;
const UNITS: Readonly<Record<string, Correction>> = {
  'a size': fixSize,
  'a duration': fixDuration,
  'a duration above zero': fixDuration,
};

/** By the titles of the schema. A correction that does not match the pattern is not used. */
const CORRECTIONS: Readonly<Record<string, Correction>> = {
  ...UNITS,
  'a path': (text) => text.replace(RELATIVE_PATH, '/$1'),
  'a name': (text) => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|[\s_.:/]+/g, '-').toLowerCase(),
  'auto or a whole number from 1 to 64': (text) => text.trim().toLowerCase(),
  'an address': (text) => `127.0.0.1:${text.replace(/^:/, '')}`,
  // Other gateways write `5/15m`, `10r/s` or `5 per minute`.
  'a rate of at most 999999 requests': (text) => {
    const [, requests, period = ''] = /^([0-9]{1,6})(?: ?r| ?requests?)? ?(?:per|every|in|\/) ?(\S+)$/.exec(text) ?? [];
    const duration = fixDuration(/^[0-9]/.test(period) ? period : `1${period}`);
    return duration && `${requests} per ${duration}`;
  },
  [UPSTREAM_URL]: (text) => {
    const [, host = ''] = /^([\w.-]+)(?::\d+)?$/.exec(text) ?? [];
    return `http${isLoopback(host) ? '' : 's'}://${host === '' ? '' : text}`;
  },
  // Other languages write members as `data.role` or `$.data.role`.
  'a JSON Pointer': (text) =>
    /^[\w$.-]+$/.test(text) ? `/${text.replace(/^\$?\.?/, '').replaceAll('.', '/')}` : undefined,
};

/** Names the part of a URL that an upstream cannot have. */
function extraPartOf(text: string): string | undefined {
  const [, before = '', after = ''] = /^https?:\/\/(?:([^/?#]*)@)?[^/?#@\s]+([/?#]\S*)?$/.exec(text) ?? [];
  if (before !== '') return ', because it has a user or a password; remove them';
  if (/^\/?[?#]/.test(after)) return ', because it has a query or a fragment; remove it';
  if (after === '') return undefined;
  return ', because it has a path; remove the path, and set "upstreamPath" of the routes to add it';
}

/** Keys of other gateways and the key for the same setting here, by their letters in lower case. */
const FOREIGN_KEYS: Readonly<Record<string, readonly string[]>> = {
  access: ['public', 'protected', 'auth', 'authentication', 'security'],
  auth: ['authentication', 'security', 'jwt', 'oidc'],
  id: ['name', 'operationid'],
  listen: ['port', 'bind', 'address', 'host'],
  maxBytes: ['limit', 'maxsize', 'maxbodysize', 'clientmaxbodysize'],
  method: ['verb', 'verbs'],
  path: ['uri', 'uris', 'route', 'location', 'match'],
  routes: ['paths', 'endpoints', 'locations'],
  schemas: ['components', 'definitions', 'models'],
  tls: ['ssl', 'https'],
  upstream: ['service', 'backend', 'target', 'cluster', 'proxy', 'proxypass'],
  upstreamPath: ['rewrite', 'prefixrewrite', 'stripprefix', 'strippath'],
  upstreams: ['services', 'backends', 'targets', 'clusters'],
  url: ['uri', 'host', 'address', 'target', 'server'],
  urls: ['servers', 'hosts', 'addresses', 'targets', 'endpoints'],
};

/** Returns the key that has the meaning of a key of another gateway. */
export function nativeKey(written: string, known: readonly string[]): string | undefined {
  const letters = written.toLowerCase().replaceAll(/[^a-z]/g, '');
  return known.find((key) => FOREIGN_KEYS[key]?.includes(letters));
}

/** Returns an example for a missing member from the schema. */
export function exampleOf(error: ErrorObject, missing: string): string {
  const member = error.parentSchema?.['properties']?.[missing];
  if (Array.isArray(member?.enum)) return member.enum.join(' or ');
  const example: unknown = member?.examples?.[0];
  if (example === undefined) return '…';
  return exampleText(example);
}

/** Returns examples as the end of a sentence. */
export function examplesText(examples: unknown): string {
  if (!Array.isArray(examples) || examples.length === 0) return '';
  return `; write for example ${examples.map(exampleText).join(' or ')}`;
}

/** Formats an example as YAML. Quotes around a complete string would be noise in a sentence, except where it would be no string. */
function exampleText(example: unknown): string {
  if (typeof example !== 'string') return formatFlow(example);
  return /^(?:\{|\d+$)/.test(example) ? `'${example}'` : example;
}
