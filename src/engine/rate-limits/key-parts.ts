import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { clientKey } from '../gateway/fairness/client-key.ts';
import { Refusal } from '../gateway/response/refusal.ts';
import { foldHeaderName } from '../header-names.ts';
import { compilePointer, parsePointer, pointerStep, truncatePointer } from '../json-pointer.ts';
import type { RateLimitKeyName, RateLimitKeyPart } from '../manifest/manifest.generated.ts';
import { FOLDS, HIDDEN, readName } from '../text-folding.ts';
import { SHORT_NUMBER } from '../validation/json-scan.ts';
import { parseStrictJson } from '../validation/strict-json.ts';
import type { RateLimit, RateLimitKeyKind, RateLimitStage } from './rate-limit.ts';

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
  const fold = (text: string | undefined) => (text && entry.fold ? FOLDS[entry.fold](text) : text);
  if (body !== undefined) {
    const readMember = compileMember(body);
    const readValue: KeyPart['readValue'] = (facts) => {
      const value = readMember(parseBody(facts.body));
      if (value instanceof Refusal) return value;
      const text = scalarText(value);
      if (typeof value === 'number' ? !Number.isSafeInteger(value) : value && text === undefined)
        return refuseBody(body, 'must be a text, a boolean or an integer');
      return text !== undefined && HIDDEN.test(text) ? refuseBody(body, HIDDEN_MESSAGE) : fold(text);
    };
    return { kind: 'body', readValue };
  }
  if (claim !== undefined) {
    const valueAt = compilePointer(claim);
    const readValue: KeyPart['readValue'] = ({ principal }) => {
      const text = fold(scalarText(valueAt(principal?.claims)));
      // A name has no colon, so equal claims of two issuers never meet.
      return text === undefined || principal?.issuer === undefined ? text : `${principal.issuer}:${text}`;
    };
    return { kind: 'claim', readValue };
  }
  if (header !== undefined) {
    const name = foldHeaderName(header);
    const errors = [{ pointer: `/headers${pointerStep(header)}`, message: HIDDEN_MESSAGE }];
    const readValue: KeyPart['readValue'] = ({ request }) => {
      const text = headerText(request.rawHeaders, name);
      return text !== undefined && HIDDEN.test(text) ? new Refusal('parameter_invalid', { errors }) : fold(text);
    };
    return { kind: 'header', readValue };
  }
  const prefix = client?.ipv6Prefix;
  return { kind: 'client', readValue: ({ clientAddress }) => clientKey(clientAddress, prefix) };
}

const HIDDEN_MESSAGE = 'contains a character that servers read differently';

function refuseBody(pointer: string, message: string): Refusal {
  return new Refusal('body_invalid', { errors: [{ pointer: truncatePointer(pointer), message }] });
}

/**
 * Compiles a pointer into a body. The function returns a refusal if an object on the way has a member whose name some servers read
 * as that of the pointer: of `{"email": …, "Email": …}` they take the last. Some also read a list of one object as the object.
 */
function compileMember(pointer: string): (body: unknown) => unknown {
  const steps = parsePointer(pointer).map((name) => ({ name, folded: readName(name)[0] as string }));
  return (body) => {
    let value = body;
    let at = '';
    for (const { name, folded } of steps) {
      if (value === null || typeof value !== 'object') return undefined;
      if (Array.isArray(value) && !/^\d+$/.test(name)) return refuseBody(at, 'must be an object');
      const twin = Object.keys(value).find((other) => other !== name && readName(other).includes(folded));
      if (twin !== undefined) return refuseBody(at + pointerStep(twin), `is read as "${name}" by some servers`);
      if (!Object.hasOwn(value, name)) return undefined;
      value = (value as Record<string, unknown>)[name];
      at += pointerStep(name);
    }
    return value;
  };
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
      if (typeof value !== 'string') return value;
      joined += `${value.length}:${value}`;
    }
    return shorten(joined);
  };
}

function shorten<V extends ReturnType<RateLimit['readValue']>>(value: V): V | string {
  return typeof value !== 'string' || value.length <= MAX_LENGTH ? value : hash('sha256', value, 'base64url');
}

/** Returns the text of a scalar, so that `1` and `"1"` count together; `undefined` for anything else. */
function scalarText(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** Returns the values of all headers that servers read as a folded name, because an upstream may read any one of them; of valid UTF-8 the text. */
function headerText(rawHeaders: readonly string[], folded: string): string | undefined {
  const isNamed = (index: number) => index % 2 === 0 && foldHeaderName(rawHeaders[index] as string) === folded;
  const values = rawHeaders.filter((_, index) => isNamed(index - 1));
  const bytes = Buffer.from(values.join(', '), 'latin1');
  return values.length === 0 ? undefined : bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

/** Returns the value of a body; `undefined` if it is no strict JSON, which a route with `validation: report` forwards. */
function parseBody(body: Buffer | undefined): unknown {
  const parsed = body && parseStrictJson(body);
  if (parsed === undefined || !('value' in parsed)) return undefined;
  if (parsed.longNumbers === undefined) return parsed.value;
  // A double may not hold the digits: the text of a large integer replaces it, and NaN a number that is rounded to an integer.
  return JSON.parse(String(body), (_name, value: unknown, { source = '' }: { readonly source?: string } = {}) => {
    if (typeof value !== 'number' || source.length <= SHORT_NUMBER) return value;
    return /^-?\d+$/.test(source) ? source : Number.NaN;
  });
}
