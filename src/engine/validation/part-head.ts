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
const DISPOSITION = /^form-data((?: *; *[A-Za-z*]+=(?:"[^"\\]*"|[!#$&+.^_`{|}~0-9A-Za-z-]+))+)$/i;
const PARAMETER = /; *([A-Za-z*]+)=(?:"([^"\\]*)"|([^ ;]+))/g;
/** Encodings that leave the bytes unchanged. Servers that decode another encoding would read a different part. */
const IDENTITY_ENCODINGS = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the headers of a part; returns `undefined` if two servers could read them differently: folded lines, control
 * characters, duplicate headers or parameters, `filename*` beside `filename`, a quote or a backslash in a name, a part
 * that is itself multipart.
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
    if (parameters.has(name) || (name !== 'name' && name !== 'filename')) return undefined;
    parameters.set(name, quoted ?? token);
  }
  return parameters.get('name');
}
