import { describe, expect, test } from 'vitest';
import { differencesOf, sideOf } from './support.ts';

const LISTS: readonly (object | undefined)[] = [
  undefined,
  { maxBytes: '1KB' },
  { types: ['image/*'] },
  { types: ['image/png'] },
  { types: ['Image/PNG'] },
  { types: ['image/png', 'text/csv'] },
  { types: ['image/png', 'image/*'] },
  { types: ['text/csv'] },
  { csv: { header: ['a'] } },
  { csv: { header: ['a'] }, types: ['text/csv'] },
  { multipart: { parts: { a: {} } } },
  { schema: true },
  { schema: true, types: ['application/json'] },
  { schema: true, types: ['application/x+json'] },
];
/** One of each that some list tells apart from the others. */
const SENT = [
  'application/json',
  'application/x+json',
  'application/y+json',
  'image/gif',
  'image/png',
  'multipart/form-data; boundary=b',
  'text/csv',
  'text/plain',
];

describe('media types are more or fewer by what a route takes', () => {
  const pairs = LISTS.flatMap((old) => LISTS.map((next) => [old, next] as const));
  test.each(pairs)('%j, then %j', (old, next) => {
    const [before, now] = [manifestWith(old), manifestWith(next)];
    const told = differencesOf(before, now).map(({ rule }) => rule);
    const isMore = SENT.some((type) => takes(now, type) && !takes(before, type));
    const isFewer = SENT.some((type) => takes(before, type) && !takes(now, type));
    expect([told.includes('media-types-widened'), told.includes('media-types-narrowed')]).toEqual([isMore, isFewer]);
  });
});

function manifestWith(body: object | undefined) {
  return {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    routes: [{ id: 'one', method: 'POST', path: '/', upstream: 'up', access: 'public', ...(body && { body }) }],
  };
}

function takes(manifest: object, type: string): boolean {
  const [route] = sideOf(manifest)?.plan.routes ?? [];
  if (route === undefined) throw new Error('a manifest does not load');
  return route.body?.types?.includes(type) ?? true;
}
