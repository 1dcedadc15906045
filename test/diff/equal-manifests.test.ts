import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { anyManifest } from '../support/any-manifest.ts';
import { cases, runs } from '../support/runs.ts';
import { fullSideOf, MANIFESTS, WORLD } from './full-manifests.ts';
import { type Random, rewrite, write } from './rewrites.ts';
import { differencesOf } from './support.ts';

/** The number of manifests. */
const RUNS = 60;

function sideOfText(text: string, files: Record<string, string>): DiffSide | undefined {
  const readFile = (path: string) => files[path] ?? WORLD.readFile(path);
  const environment = { ...WORLD, readFile, listFolder: () => Object.keys(files) };
  const loaded = load({ path: 'other.yaml', text }, environment);
  return loaded.plan === undefined ? undefined : createDiffSide(loaded, readFile);
}

/** Generates the steps of a pseudo-random walk, so that a failure shrinks to few rewrites. */
const random = fc.infiniteStream(fc.nat()).map(
  (numbers): Random =>
    (limit) =>
      (numbers.next().value as number) % limit,
);

/** Manifests with every key, with some of their routes. */
const fullManifest = fc
  .tuple(fc.constantFrom(...MANIFESTS), fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }), fc.boolean())
  .map(([manifest, kept, isLocal]) => ({
    ...manifest,
    ...(isLocal && { listen: '[::1]:8080', admin: 'localhost:9901' }),
    server: { ...manifest.server, trustedProxies: ['10.0.0.0/8', '127.0.0.1', '::1', '2001:db8::/32'] },
    routes: manifest.routes.filter((_, index) => kept.includes(index)),
  }));

describe('a manifest that is written differently', () => {
  it('has no differences', () => {
    let count = 0;
    fc.assert(
      fc.property(fc.oneof<fc.Arbitrary<object>[]>(anyManifest, fullManifest), random, (manifest, step) => {
        const old = fullSideOf(manifest);
        const { text, files } = write(rewrite(manifest, step), step);
        const next = sideOfText(text, files);
        fc.pre(old !== undefined && next !== undefined);
        if (old === undefined || next === undefined) return;
        expect(diff(old, next)).toEqual([]);
        expect(diff(next, old)).toEqual([]);
        count += 1;
      }),
      { numRuns: runs(RUNS) },
    );
    expect(count).toBeGreaterThan(cases(RUNS) / 2);
  });
});

const ROUTE = { id: 'one', method: 'GET', path: '/one', upstream: 'first', access: 'public' };
const BASE = { version: 1, upstreams: { first: { url: 'http://127.0.0.1:1' } }, routes: [ROUTE] };

describe('a response of the gateway itself', () => {
  const rulesOf = (old: object, next: object) => {
    const [before, now] = [old, next].map((own) => {
      const { upstream: _upstream, ...route } = ROUTE;
      return { ...BASE, routes: [{ ...route, path: '/one/{a}/{b}', ...own }] };
    });
    return differencesOf(before, now).map(({ rule }) => rule);
  };

  test('is the same with defaults, other letter case, and other names of parameters', () => {
    const respond = { headers: { 'X-A': '1', 'content-type': 'text/plain; charset=utf-8' }, body: 'a' };
    expect(rulesOf({ respond }, { respond: { body: 'a', headers: { 'x-a': '1' } } })).toEqual([]);
    const other = { path: '/one/{c}/{d}', redirect: { to: '/{d}/{c}' } };
    expect(rulesOf({ redirect: { to: '/{b}/{a}' } }, other)).toEqual([]);
  });

  test.each([
    ['status', { respond: { status: 201, body: 'a' } }],
    ['header', { respond: { headers: { 'X-A': '1' }, body: 'a' } }],
    ['body', { respond: { body: 'b' } }],
  ])('is another one with another %s', (_key, next) => {
    expect(rulesOf({ respond: { body: 'a' } }, next)).toEqual(['own-response']);
  });

  test.each([
    ['order of parameters', { to: '/{a}/{b}' }],
    ['status', { to: '/{b}/{a}', status: 302 }],
    ['query', { to: '/{b}/{a}', query: 'keep' }],
  ])('is another one with another %s', (_key, redirect) => {
    expect(rulesOf({ redirect: { to: '/{b}/{a}' } }, { redirect })).toEqual(['own-response']);
  });
});

describe('an upstream with another name', () => {
  test.each([
    ['alone', { second: { url: 'http://127.0.0.1:1/' } }],
    ['beside another one', { second: { urls: ['http://127.0.0.1:1'] }, third: { url: 'http://127.0.0.1:3' } }],
  ])('is only info, %s', (_title, upstreams) => {
    const next = { ...BASE, upstreams, routes: [{ ...ROUTE, upstream: 'second' }] };
    const severities = differencesOf(BASE, next).map(({ rule, severity }) => `${severity} ${rule}`);
    expect(severities).toContain('info upstream-renamed');
    expect(severities.filter((text) => !text.startsWith('info'))).toEqual([]);
  });

  test('is reported by its endpoints if they changed too, and by its lost TLS', () => {
    const old = { ...BASE, upstreams: { first: { url: 'https://one.internal' } } };
    const next = {
      ...BASE,
      upstreams: { second: { url: 'http://two.internal' } },
      routes: [{ ...ROUTE, upstream: 'second' }],
    };
    const rules = differencesOf(old, next).map(({ rule }) => rule);
    expect(rules).toEqual(expect.arrayContaining(['upstream-plain', 'upstream-changed']));
    expect(rules).not.toContain('upstream-renamed');
  });
});
