import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import { sizeBytes } from '../../engine/manifest/units.ts';

type Multipart = NonNullable<NonNullable<RouteEntry['body']>['multipart']>;

export const MULTIPART_TYPE = 'multipart/form-data; boundary=b';
export const MULTIPART_END = '--b--\r\n';

/** Formats one part of a multipart body. */
export function formatPart(name: string, content = 'x', type?: string): string {
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\n${typeLine}\r\n${content}\r\n`;
}

/** Returns a body with each part once. */
export function multipartBody(multipart: Multipart): string {
  return joinParts(partTexts(multipart));
}

/** Returns bodies that differ from a complete one in one part. */
export function changedMultipartBodies(multipart: Multipart): string[] {
  const texts = partTexts(multipart);
  const changed = Object.entries(multipart.parts).flatMap(([name, { types, maxCount, maxBytes }]) => {
    const text = texts.get(name) ?? '';
    const size = sizeBytes(maxBytes) + 1;
    return [
      new Map([...texts].filter(([other]) => other !== name)),
      new Map([...texts, [name, text.repeat(maxCount + 1)]]),
      new Map([...texts, [name, formatPart(name, 'x', 'application/x-other')]]),
      ...(size > MAX_PART_BYTES ? [] : [new Map([...texts, [name, formatPart(name, 'x'.repeat(size), types?.[0])]])]),
    ];
  });
  return [texts, ...changed].map(joinParts);
}

/** A larger part would make a test file unreadable. */
const MAX_PART_BYTES = 4_096;

function partTexts({ parts }: Multipart): Map<string, string> {
  return new Map(Object.entries(parts).map(([name, { types }]) => [name, formatPart(name, 'x', types?.[0])]));
}

function joinParts(texts: ReadonlyMap<string, string>): string {
  return [...texts.values(), MULTIPART_END].join('');
}
