import { isUtf8 } from 'node:buffer';
import { parseMediaType } from './media-type.ts';

/** What the headers of a part say (RFC 7578 section 4). */
export interface PartHead {
  readonly name: string;
  /** In lower case, without parameters. */
  readonly type: string;
  /** What the part says of its own length, if it does. */
  readonly length: number | undefined;
}

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
const DISPOSITION = /^form-data((?: *; *[A-Za-z*]+=(?:"[^"\\]*"|[!#$&+.^_`{|}~0-9A-Za-z-]+))+)$/i;
const PARAMETER = /; *([A-Za-z*]+)=(?:"([^"\\]*)"|([^ ;]+))/g;
/** They leave the bytes as they are; by any other the part would be something else to those who decode it. */
const IDENTITIES = new Set(['7bit', '8bit', 'binary']);

/**
 * Reads the headers of a part; `undefined` when two servers could read them differently: folded lines, control
 * characters, a header or a parameter twice, `filename*` beside `filename`, a quote or a backslash in a name, a part
 * that is a multipart of its own.
 */
export function parsePartHead(bytes: Buffer): PartHead | undefined {
  if (!isUtf8(bytes)) return undefined;
  const fields = fieldsOf(bytes.toString());
  const name = nameOf(fields?.get('content-disposition') ?? '');
  if (fields === undefined || name === undefined) return undefined;
  const type = parseMediaType(fields.get('content-type') ?? 'text/plain')?.name;
  if (type === undefined || /^(?:multipart|message)\//.test(type)) return undefined;
  if (!IDENTITIES.has((fields.get('content-transfer-encoding') ?? 'binary').toLowerCase())) return undefined;
  const length = fields.get('content-length');
  if (length !== undefined && !/^(?:0|[1-9]\d{0,15})$/.test(length)) return undefined;
  return { name, type, length: length === undefined ? undefined : Number(length) };
}

function fieldsOf(text: string): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, written = ''] = FIELD.exec(line) ?? [];
    const value = withoutBlanksAround(written);
    if (name === undefined || /\p{Cc}/u.test(value) || fields.has(name.toLowerCase())) return undefined;
    fields.set(name.toLowerCase(), value);
  }
  return fields;
}

/** Not by a pattern, which takes the square of the length of a run of blanks inside. Tabs stay, and are refused. */
function withoutBlanksAround(text: string): string {
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
