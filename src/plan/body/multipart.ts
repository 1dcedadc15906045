import { pointerStep } from '../../json-pointer.ts';
import type { Violation } from '../violation.ts';
import { parseMediaType } from './media-type.ts';
import { parsePartHead } from './part-head.ts';
import type { StreamValidator } from './stream-validation.ts';

/** A part that is expected. */
export interface PartRule {
  readonly acceptsType: (type: string) => boolean;
  /** What a client is told that sent another type. */
  readonly typesDescription: string;
  readonly limitBytes: number;
  readonly maxCount: number;
  readonly isRequired: boolean;
}

/** RFC 2046 section 5.1.1, less the blank. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=?-]{1,70}$/;
const CHARSET = /^(?:utf-8|us-ascii)$/i;
const MAX_HEAD_BYTES = 4_096;
const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const DASHES = Buffer.from('--');
const NOTHING = Buffer.alloc(0);

/** The boundary that a Content-Type names; `undefined` when servers could read another one out of it. */
export function boundaryOf(contentType: string): string | undefined {
  const parameters = parseMediaType(contentType)?.parameters;
  const boundary = parameters?.get('boundary');
  // Some take the first "boundary" in the text for the name, though it stands inside of a value.
  const isPlain = [...(parameters ?? [])].every(
    ([name, value]) => name === 'boundary' || (name === 'charset' && CHARSET.test(value)),
  );
  return isPlain && !contentType.includes('\\') && BOUNDARY.test(boundary ?? '') ? boundary : undefined;
}

/**
 * Looks at a `multipart/form-data` (RFC 7578) piece by piece, and holds no more of it than the headers of one part.
 * Stricter than parsers are: they pass over what they do not understand, and not all over the same. Here the
 * boundary stands nowhere but in whole delimiter lines, nothing stands before the first or after the last, and
 * a part has headers with one reading. What passes has the same parts for every parser.
 */
export class MultipartValidator implements StreamValidator {
  readonly #delimiter: Buffer;
  readonly #rules: ReadonlyMap<string, PartRule>;
  readonly #counts = new Map<string, number>();
  #state: 'first' | 'head' | 'body' | 'over' = 'first';
  /** What came and is not yet decided. */
  #rest: Buffer = NOTHING;
  #at = 0;
  #part: { readonly pointer: string; readonly rule: PartRule; readonly length: number | undefined } | undefined;
  #size = 0;

  constructor(boundary: string, rules: ReadonlyMap<string, PartRule>) {
    this.#delimiter = Buffer.from(`--${boundary}`);
    this.#rules = rules;
  }

  write(piece: Buffer): Violation | undefined {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#at = 0;
    let news: Violation | 'more' | 'next' = 'next';
    while (news === 'next') news = this.#step();
    if (news !== 'more') return news;
    this.#rest = this.#rest.subarray(this.#at);
    return undefined;
  }

  end(): Violation | undefined {
    if (this.#state === 'first' && this.#rest.length === 0) return violation('', 'must not be empty');
    const isWhole = this.#state === 'over' && (this.#rest.length === 0 || this.#rest.equals(CRLF));
    return isWhole ? undefined : violation('', 'ends before its last boundary');
  }

  #step(): Violation | 'more' | 'next' {
    switch (this.#state) {
      case 'first':
        return this.#readFirst();
      case 'head':
        return this.#readHead();
      case 'body':
        return this.#readBody();
      case 'over':
        return CRLF.subarray(0, this.#rest.length - this.#at).equals(this.#rest.subarray(this.#at))
          ? 'more'
          : violation('', 'goes on after its last boundary');
    }
  }

  #readFirst(): Violation | 'more' | 'next' {
    const line = Buffer.concat([this.#delimiter, CRLF]);
    const begun = this.#rest.subarray(0, line.length);
    if (!begun.equals(line.subarray(0, begun.length))) return violation('', 'must begin with its boundary');
    if (begun.length < line.length) return 'more';
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
    if (rule === undefined) return violation('', 'has a part that is not known here');
    const pointer = pointerStep(head.name);
    const count = (this.#counts.get(head.name) ?? 0) + 1;
    this.#counts.set(head.name, count);
    this.#part = { pointer, rule, length: head.length };
    if (count > rule.maxCount) return violation(pointer, `stands there more than ${times(rule.maxCount)}`);
    return rule.acceptsType(head.type) ? 'next' : violation(pointer, `must be ${rule.typesDescription}`);
  }

  #readBody(): Violation | 'more' | 'next' {
    const length = this.#delimiter.length;
    const found = this.#rest.indexOf(this.#delimiter, this.#at);
    // Without it: the delimiter may have begun in the last bytes, behind its line break.
    const end = found === -1 ? Math.max(this.#at, this.#rest.length - length - 1) : found - CRLF.length;
    if (end < this.#at || (found !== -1 && !this.#rest.subarray(end, found).equals(CRLF))) return MISPLACED;
    this.#size += end - this.#at;
    this.#at = end;
    const tooLong = this.#tooLong();
    if (tooLong !== undefined || found === -1) return tooLong ?? 'more';
    const next = this.#rest.subarray(found + length, found + length + 2);
    if (next.length < 2) return 'more';
    if (!next.equals(CRLF) && !next.equals(DASHES)) return MISPLACED;
    this.#at = found + length + 2;
    this.#state = next.equals(CRLF) ? 'head' : 'over';
    const { pointer = '', length: stated } = this.#part ?? {};
    const isAsStated = stated === undefined || stated === this.#size;
    if (!isAsStated) return violation(pointer, 'has another length than it says');
    // Said at the last boundary and not at the end: many servers take the form for whole where they see it.
    return this.#state === 'over' ? (this.#missing() ?? 'next') : 'next';
  }

  #missing(): Violation | undefined {
    for (const [name, { isRequired }] of this.#rules)
      if (isRequired && !this.#counts.has(name)) return violation(pointerStep(name), 'is missing');
    return undefined;
  }

  #tooLong(): Violation | undefined {
    const { pointer = '', rule } = this.#part ?? {};
    const isTooLong = rule !== undefined && this.#size > rule.limitBytes;
    return isTooLong ? violation(pointer, `is longer than ${rule.limitBytes} bytes`) : undefined;
  }
}

const MISPLACED = violation('', 'holds its boundary where no part begins or ends');

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function violation(pointer: string, message: string): Violation {
  return { pointer, message };
}
