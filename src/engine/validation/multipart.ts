import { pointerStep } from '../json-pointer.ts';
import type { Violation } from '../schema/schema-violation.ts';
import type { StreamValidator } from './body-rule.ts';
import { parseMediaType } from './media-type.ts';
import { parsePartHead } from './part-head.ts';

/** The rule of an expected part. */
export interface PartRule {
  readonly acceptsType: (type: string) => boolean;
  /** The accepted types, for violations. */
  readonly typesDescription: string;
  readonly limitBytes: number;
  readonly maxCount: number;
  readonly isRequired: boolean;
}

/** RFC 2046 section 5.1.1, without the space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=?-]{1,70}$/;
const CHARSET = /^(?:utf-8|us-ascii)$/i;
const MAX_HEAD_BYTES = 4_096;
const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const DASHES = Buffer.from('--');
const NOTHING = Buffer.alloc(0);

/** Returns the boundary of a Content-Type; `undefined` if servers could read a different one. */
export function boundaryOf(contentType: string): string | undefined {
  const parameters = parseMediaType(contentType)?.parameters;
  const boundary = parameters?.get('boundary');
  // Some servers find the first "boundary" in the text, even inside of a value.
  const isPlain = [...(parameters ?? [])].every(
    ([name, value]) => name === 'boundary' || (name === 'charset' && CHARSET.test(value)),
  );
  return isPlain && !contentType.includes('\\') && BOUNDARY.test(boundary ?? '') ? boundary : undefined;
}

/**
 * Validates a `multipart/form-data` body (RFC 7578) chunk by chunk, and buffers at most the headers of one part. It is
 * stricter than common parsers, each of which skips malformed input in its own way. The boundary may appear only in
 * complete delimiter lines, nothing may precede the first or follow the last, and part headers must be unambiguous. A
 * valid body has the same parts for every parser.
 */
export class MultipartValidator implements StreamValidator {
  readonly #delimiter: Buffer;
  readonly #rules: ReadonlyMap<string, PartRule>;
  readonly #counts = new Map<string, number>();
  #state: 'first' | 'head' | 'body' | 'end' = 'first';
  /** Received bytes that are not validated yet. */
  #rest: Buffer = NOTHING;
  #at = 0;
  #part: { readonly pointer: string; readonly rule: PartRule; readonly length: number | undefined } | undefined;
  #size = 0;

  constructor(boundary: string, rules: ReadonlyMap<string, PartRule>) {
    this.#delimiter = Buffer.from(`--${boundary}`);
    this.#rules = rules;
  }

  write(chunk: Buffer): Violation | undefined {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#at = 0;
    let result: Violation | 'more' | 'next' = 'next';
    while (result === 'next') result = this.#step();
    if (result !== 'more') return result;
    this.#rest = this.#rest.subarray(this.#at);
    return undefined;
  }

  end(): Violation | undefined {
    if (this.#state === 'first' && this.#rest.length === 0) return violation('', 'must not be empty');
    const isComplete = this.#state === 'end' && (this.#rest.length === 0 || this.#rest.equals(CRLF));
    return isComplete ? undefined : violation('', 'ends before its last boundary');
  }

  #step(): Violation | 'more' | 'next' {
    switch (this.#state) {
      case 'first':
        return this.#readFirst();
      case 'head':
        return this.#readHead();
      case 'body':
        return this.#readBody();
      case 'end':
        return CRLF.subarray(0, this.#rest.length - this.#at).equals(this.#rest.subarray(this.#at))
          ? 'more'
          : violation('', 'continues after its last boundary');
    }
  }

  #readFirst(): Violation | 'more' | 'next' {
    const line = Buffer.concat([this.#delimiter, CRLF]);
    const start = this.#rest.subarray(0, line.length);
    if (!start.equals(line.subarray(0, start.length))) return violation('', 'must begin with its boundary');
    if (start.length < line.length) return 'more';
    this.#at = line.length;
    this.#state = 'head';
    return 'next';
  }

  #readHead(): Violation | 'more' | 'next' {
    const end = this.#rest.indexOf(HEAD_END, this.#at);
    const length = (end === -1 ? this.#rest.length : end) - this.#at;
    if (length > MAX_HEAD_BYTES) return violation('', 'has a part whose headers are too long');
    if (end === -1) return 'more';
    const bytes = this.#rest.subarray(this.#at, end);
    const head = bytes.includes(this.#delimiter) ? undefined : parsePartHead(bytes);
    if (head === undefined) return violation('', 'has a part whose headers can be read in two ways');
    this.#at = end + HEAD_END.length;
    this.#state = 'body';
    this.#size = 0;
    const rule = this.#rules.get(head.name);
    if (rule === undefined) return violation('', 'has an unknown part');
    const pointer = pointerStep(head.name);
    const count = (this.#counts.get(head.name) ?? 0) + 1;
    this.#counts.set(head.name, count);
    this.#part = { pointer, rule, length: head.length };
    if (count > rule.maxCount) return violation(pointer, `appears more than ${times(rule.maxCount)}`);
    return rule.acceptsType(head.type) ? 'next' : violation(pointer, `must be ${rule.typesDescription}`);
  }

  #readBody(): Violation | 'more' | 'next' {
    const length = this.#delimiter.length;
    const boundaryAt = this.#rest.indexOf(this.#delimiter, this.#at);
    // Without a match, the last bytes may be the start of the line break and delimiter.
    const end = boundaryAt === -1 ? Math.max(this.#at, this.#rest.length - length - 1) : boundaryAt - CRLF.length;
    if (end < this.#at || (boundaryAt !== -1 && !this.#rest.subarray(end, boundaryAt).equals(CRLF))) return MISPLACED;
    this.#size += end - this.#at;
    this.#at = end;
    const sizeViolation = this.#sizeViolation();
    if (sizeViolation !== undefined || boundaryAt === -1) return sizeViolation ?? 'more';
    const next = this.#rest.subarray(boundaryAt + length, boundaryAt + length + 2);
    if (next.length < 2) return 'more';
    if (!next.equals(CRLF) && !next.equals(DASHES)) return MISPLACED;
    this.#at = boundaryAt + length + 2;
    this.#state = next.equals(CRLF) ? 'head' : 'end';
    const { pointer = '', length: declared } = this.#part ?? {};
    if (declared !== undefined && declared !== this.#size)
      return violation(pointer, 'has a different length than its headers declare');
    // Reported at the last boundary, not at the end: many servers treat the form as complete there.
    return this.#state === 'end' ? (this.#missingPart() ?? 'next') : 'next';
  }

  #missingPart(): Violation | undefined {
    for (const [name, { isRequired }] of this.#rules)
      if (isRequired && !this.#counts.has(name)) return violation(pointerStep(name), 'is missing');
    return undefined;
  }

  #sizeViolation(): Violation | undefined {
    const { pointer = '', rule } = this.#part ?? {};
    const isTooLong = rule !== undefined && this.#size > rule.limitBytes;
    return isTooLong ? violation(pointer, `is longer than ${rule.limitBytes} bytes`) : undefined;
  }
}

const MISPLACED = violation('', 'contains its boundary where no part begins or ends');

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function violation(pointer: string, message: string): Violation {
  return { pointer, message };
}
