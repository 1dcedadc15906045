import { createHash } from 'node:crypto';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';

/** A file to download. The name is ASCII: all of them are seeded. */
export interface Download {
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Answers a file, a part of it (206), or that the caller has it already (304). RFC 9110, sections 13 and 14. */
export function download(call: Call, file: Download): Answer {
  const etag = `"${createHash('sha256').update(file.bytes).digest('hex')}"`;
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-type': file.mediaType,
    'content-disposition': `attachment; filename="${file.filename}"`,
  };
  if (isKnown(call.headers['if-none-match'], etag)) return { status: 304, headers: { etag } };
  const size = file.bytes.length;
  const ifRange = call.headers['if-range'];
  const range = ifRange === undefined || ifRange === etag ? rangeOf(call.headers.range, size) : undefined;
  if (range === undefined) return { status: 200, headers, body: file.bytes };
  if (range === 'unsatisfiable') {
    return {
      status: 416,
      headers: { 'content-range': `bytes */${size}` },
      body: { status: 'error', message: `the file has ${size} bytes` },
    };
  }
  const { first, last } = range;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${last}/${size}` },
    body: file.bytes.subarray(first, last + 1),
  };
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag);
}

/** The one range asked for, or undefined: several ranges, or none that can be read, get the whole file. */
function rangeOf(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < first) return undefined;
  return first >= size ? ('unsatisfiable' as const) : { first, last };
}
