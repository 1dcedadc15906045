import { hash } from 'node:crypto';
import { clientKey } from '../gateway/fairness/client-key.ts';
import { isHeader } from '../http1/raw-headers.ts';
import { compilePointer } from '../json-pointer.ts';
import type { RateLimitKeyName, RateLimitKeyPart } from '../manifest/manifest.generated.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import type { RateLimit, RateLimitKeyKind, RateLimitStage } from './rate-limit.ts';

/** One part of a key. */
export interface KeyPart {
  readonly kind: RateLimitKeyKind;
  readonly readValue: RateLimit['readValue'];
}

/** A longer value is replaced by its hash, so that a client cannot choose how much memory a counter takes. */
const MAX_LENGTH = 48;

/** The members of a key part that determine its kind. */
export const KEY_PART_KINDS = ['body', 'claim', 'header', 'client'] as const;

/** The step of a request after which each kind of value is known. */
export const STAGE_OF: Readonly<Record<RateLimitKeyKind, RateLimitStage>> = {
  client: 'match',
  subject: 'authorize',
  route: 'match',
  body: 'validate',
  claim: 'authorize',
  header: 'match',
};

/** Compiles one part of a key, which has exactly one of `KEY_PART_KINDS`. */
export function compileKeyPart(entry: RateLimitKeyName | RateLimitKeyPart): KeyPart {
  if (typeof entry === 'string') return { kind: entry, readValue: NAMED_VALUES[entry] };
  const { body, claim, header, client } = entry;
  const folded = (value: string | undefined) => (entry.fold === undefined || value === undefined ? value : fold(value));
  if (body !== undefined) {
    const valueAt = compilePointer(body);
    return { kind: 'body', readValue: (facts) => folded(scalarText(valueAt(parseBody(facts.body)))) };
  }
  if (claim !== undefined) {
    const valueAt = compilePointer(claim);
    return { kind: 'claim', readValue: ({ principal }) => folded(scalarText(valueAt(principal?.claims))) };
  }
  if (header !== undefined) {
    const name = header.toLowerCase();
    return { kind: 'header', readValue: ({ request }) => folded(headerText(request.rawHeaders, name)) };
  }
  const prefix = client?.ipv6Prefix;
  return { kind: 'client', readValue: ({ clientAddress }) => clientKey(clientAddress, prefix) };
}

const NAMED_VALUES: Readonly<Record<RateLimitKeyName, RateLimit['readValue']>> = {
  client: ({ client }) => client,
  // A token without `sub` has no other name for the caller than the address.
  subject: ({ principal, client }) => principal?.subject ?? client,
  route: ({ route }) => route.id,
};

/** Returns the function that joins the parts. The length before each part keeps different lists apart. */
export function joinKeyParts(parts: readonly KeyPart[]): RateLimit['readValue'] {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return (facts) => shorten(only.readValue(facts));
  return (facts) => {
    let joined = '';
    for (const { readValue } of parts) {
      const value = readValue(facts);
      if (value === undefined) return undefined;
      joined += `${value.length}:${value}`;
    }
    return shorten(joined);
  };
}

function shorten(value: string | undefined): string | undefined {
  return value === undefined || value.length <= MAX_LENGTH ? value : hash('sha256', value, 'base64url');
}

/** Folds letter case and compatibility forms: an upstream may read all these spellings as one account. */
function fold(value: string): string {
  // Some letters decompose when their case changes.
  return value.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim();
}

/** Returns the text of a value with its type, so that `1` and `"1"` differ; `undefined` for anything but a scalar. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? `\0${value}` : undefined;
}

/** Returns the values of all headers of a name, because an upstream may read any one of them. */
function headerText(rawHeaders: readonly string[], name: string): string | undefined {
  let text: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (isHeader(rawHeaders[index] as string, name)) {
      const value = rawHeaders[index + 1] as string;
      text = text === undefined ? value : `${text}, ${value}`;
    }
  return text;
}

/** Returns the value of a body; `undefined` if it is no strict JSON, which a route with `validation: report` forwards. */
function parseBody(body: Buffer | undefined): unknown {
  if (body === undefined) return undefined;
  const parsed = parseStrictJson(body);
  return 'value' in parsed ? parsed.value : undefined;
}
