import type { SandboxRequest } from './request.ts';
import { requireFound, SandboxError, type SandboxResponse } from './response.ts';

/** A file as the tables of files hold it. The name is ASCII: all of them are seeded. */
interface StoredFile {
  readonly filename: string;
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

/** Answers with a file of the table, or with the one part of it that was asked for (RFC 9110, section 14). */
export function download(table: string): (call: SandboxRequest) => SandboxResponse {
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

/** First and last byte; undefined for several ranges, or none that can be read: these get the whole file. */
function rangeOf(header: string | undefined, size: number): readonly [number, number] | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '') return to === '' ? undefined : [Math.max(0, size - Number(to)), size - 1];
  if (to === '') return [Number(from), size - 1];
  return Number(to) < Number(from) ? undefined : [Number(from), Math.min(Number(to), size - 1)];
}
