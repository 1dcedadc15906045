import type { SandboxRequest } from './request.ts';
import { requireFound, SandboxError, type SandboxResponse } from './response.ts';

/** A row of a table of files. The seed data has only ASCII names. */
interface StoredFile {
  readonly filename: string;
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

/** Responds with a file of the table, or with the requested byte range (RFC 9110, section 14). */
export function download(table: string): (request: SandboxRequest) => SandboxResponse {
  return ({ store, id, headers: { range } }) => {
    const file = store.one<StoredFile>(`SELECT filename, media_type, bytes FROM ${table} WHERE id = ?`, id);
    const { filename, media_type, bytes } = requireFound(file, table);
    const headers = {
      'accept-ranges': 'bytes',
      'content-type': media_type,
      'content-disposition': `attachment; filename="${filename}"`,
    };
    const size = bytes.length;
    const [first, last] = rangeOf(range, size) ?? [];
    if (first === undefined || last === undefined) return { status: 200, headers, body: bytes };
    if (first >= size)
      throw new SandboxError(416, `the file has ${size} bytes`, { 'content-range': `bytes */${size}` });
    const part = { ...headers, 'content-range': `bytes ${first}-${last}/${size}` };
    return { status: 206, headers: part, body: bytes.subarray(first, last + 1) };
  };
}

/**
 * Returns the first and the last byte; `undefined` for several or invalid ranges, for which the response is the
 * complete file.
 */
function rangeOf(header: string | undefined, size: number): readonly [number, number] | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '') return to === '' ? undefined : [Math.max(0, size - Number(to)), size - 1];
  if (to === '') return [Number(from), size - 1];
  return Number(to) < Number(from) ? undefined : [Number(from), Math.min(Number(to), size - 1)];
}
