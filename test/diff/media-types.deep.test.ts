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
/** One type of each group that a list distinguishes. */
const TYPES = [
  'application/json',
  'application/x+json',
  'application/y+json',
  'image/gif',
  'image/png',
  'multipart/form-data; boundary=b',
  'text/csv',
  'text/plain',
];

describe('the comparison of media types agrees with the plan', () => {
  const pairs = LISTS.flatMap((old) => LISTS.map((next) => [old, next] as const));
  test.each(pairs)('for %j before and %j after', (old, next) => {
    const [before, now] = [manifestWith(old), manifestWith(next)];
    const rules = differencesOf(before, now).map(({ rule }) => rule);
    const isMore = TYPES.some((type) => accepts(now, type) && !accepts(before, type));
    const isFewer = TYPES.some((type) => accepts(before, type) && !accepts(now, type));
    expect([rules.includes('media-types-widened'), rules.includes('media-types-narrowed')]).toEqual([isMore, isFewer]);
  });
});

function manifestWith(body: object | undefined) {
  return {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    routes: [{ id: 'one', method: 'POST', path: '/', upstream: 'up', access: 'public', ...(body && { body }) }],
  };
}

function accepts(manifest: object, type: string): boolean {
  const [route] = sideOf(manifest)?.plan.routes ?? [];
  if (route === undefined) throw new Error('a manifest does not load');
  return route.body?.types?.includes(type) ?? true;
}
