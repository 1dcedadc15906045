import { isUtf8 } from 'node:buffer';
import { parseMediaType } from './media-type.ts';

/** The headers of a part (RFC 7578 section 4). */
interface PartHead {
  readonly name: string;
  /** In lower case, without parameters. */
  readonly type: string;
  /** The part's `Content-Length`, if it has one. */
  readonly length: number | undefined;
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
export function parsePartHead(bytes: Buffer): PartHead | undefined {
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
  try {
    return decodeURIComponent(extended.slice(extended.lastIndexOf("'") + 1)) === plain;
  } catch {
    return false;
  }
}
