import { isUtf8 } from 'node:buffer';
import { attempt } from '../attempt.ts';
import { pointerStep } from '../json-pointer.ts';
import type { Violation } from '../schema/value-validator.ts';
import { parseMediaType } from './media-type.ts';
import type { StreamValidator } from './request-rules.ts';

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
  /** Reads what comes next. */
  #read: () => Violation | 'more' | 'next' = this.#readFirst;
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
    while (result === 'next') result = this.#read();
    if (result !== 'more') return result;
    this.#rest = this.#rest.subarray(this.#at);
    return undefined;
  }

  end(): Violation | undefined {
    if (this.#read === this.#readFirst && this.#rest.length === 0) return violation('', 'must not be empty');
    const isComplete = this.#read === this.#readEnd && (this.#rest.length === 0 || this.#rest.equals(CRLF));
    return isComplete ? undefined : violation('', 'ends before its last boundary');
  }

  #readEnd(): Violation | 'more' {
    const start = CRLF.subarray(0, this.#rest.length - this.#at);
    return start.equals(this.#rest.subarray(this.#at)) ? 'more' : violation('', 'continues after its last boundary');
  }

  #readFirst(): Violation | 'more' | 'next' {
    const line = Buffer.concat([this.#delimiter, CRLF]);
    const start = this.#rest.subarray(0, line.length);
    if (!start.equals(line.subarray(0, start.length))) return violation('', 'must begin with its boundary');
    if (start.length < line.length) return 'more';
    this.#at = line.length;
    this.#read = this.#readHead;
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
    this.#read = this.#readBody;
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
    this.#read = next.equals(CRLF) ? this.#readHead : this.#readEnd;
    const { pointer = '', length: declared } = this.#part ?? {};
    if (declared !== undefined && declared !== this.#size)
      return violation(pointer, 'has a different length than its headers declare');
    // Reported at the last boundary, not at the end: many servers treat the form as complete there.
    return this.#read === this.#readEnd ? (this.#missingPart() ?? 'next') : 'next';
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

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
/** A text, or for `filename*` the extended notation in UTF-8 (RFC 8187 section 3.2.1). The last semicolon may have no parameter. */
const DISPOSITION =
  /^form-data((?: *; *(?:[a-z]+=(?:"[^"\\]*"|[!#$&+.^_`{|}~0-9a-z-]+)|filename\*=utf-8'[a-z0-9-]*'(?:[!#$&+.^_`|~0-9a-z-]|%[0-9a-f]{2})+))+) *;?$/i;
const PARAMETER = /; *([A-Za-z*]+)=(?:"([^"\\]*)"|([^ ;]+))/g;
/** The form in which .NET writes a name that is not ASCII (RFC 2047 section 2). */
const ENCODED_WORD = /^=\?utf-8\?b\?([0-9A-Za-z+/]*={0,2})\?=$/i;
/** Encodings that leave the bytes unchanged. Servers that decode another encoding would read a different part. */
const IDENTITY_ENCODINGS = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the headers of a part; returns `undefined` if two servers could read them differently: folded lines, control
 * characters, duplicate headers or parameters, `filename*` that differs from `filename`, a quote or a backslash in a name,
 * a part that is itself multipart.
 */
function parsePartHead(bytes: Buffer) {
  if (!isUtf8(bytes)) return undefined;
  const fields = fieldsOf(bytes.toString());
  const name = nameOf(fields?.get('content-disposition') ?? '');
  if (fields === undefined || name === undefined) return undefined;
  const type = parseMediaType(fields.get('content-type') ?? 'text/plain')?.name;
  if (type === undefined || /^(?:multipart|message)\//.test(type)) return undefined;
  if (!IDENTITY_ENCODINGS.has((fields.get('content-transfer-encoding') ?? 'binary').toLowerCase())) return undefined;
  const length = fields.get('content-length');
  if (length !== undefined && !/^(?:0|[1-9]\d{0,15})$/.test(length)) return undefined;
  return { name, type, length: length === undefined ? undefined : Number(length) };
}

function fieldsOf(text: string): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, written = ''] = FIELD.exec(line) ?? [];
    const value = trimSpaces(written);
    if (name === undefined || /\p{Cc}/u.test(value) || fields.has(name.toLowerCase())) return undefined;
    fields.set(name.toLowerCase(), value);
  }
  return fields;
}

/** Trims spaces in linear time; a pattern takes time quadratic in a run of inner spaces. Tabs stay and are refused. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
}

function nameOf(disposition: string): string | undefined {
  const [, rest] = DISPOSITION.exec(disposition) ?? [];
  const parameters = new Map<string, string>();
  for (const [, written = '', quoted, token = ''] of (rest ?? '').matchAll(PARAMETER)) {
    const name = written.toLowerCase();
    if (parameters.has(name) || !PARAMETERS.has(name)) return undefined;
    parameters.set(name, quoted ?? token);
  }
  const extended = parameters.get('filename*');
  if (extended !== undefined && !isSameName(parameters.get('filename'), extended)) return undefined;
  return parameters.get('name');
}

const PARAMETERS = new Set(['name', 'filename', 'filename*']);

/** True if servers that read `filename*` have the same name as those that ignore it. */
function isSameName(name: string | undefined, extended: string): boolean {
  const [, word] = ENCODED_WORD.exec(name ?? '') ?? [];
  const plain = word === undefined ? name : Buffer.from(word, 'base64').toString();
  return attempt(() => decodeURIComponent(extended.slice(extended.lastIndexOf("'") + 1)) === plain) ?? false;
}
