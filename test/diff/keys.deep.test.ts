import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { definitionOf, manifestSchema, type SchemaNode } from '../support/manifest-schema.ts';
import { IS_DEEP } from '../support/runs.ts';
import { fullSideOf, loadFull, MANIFESTS } from './full-manifests.ts';
import { samplesOf, similarValues } from './mutations.ts';

/** Yields every key of a manifest as a dotted path with its schema; `*` stands for any name or index. */
function* keysOf(node: SchemaNode, path: readonly string[] = []): Generator<readonly [string, SchemaNode]> {
  const { properties = {}, additionalProperties, items, anyOf = [] } = node;
  const target = definitionOf(node);
  for (const schema of [...anyOf, ...(target === undefined ? [] : [target])]) yield* keysOf(schema, path);
  for (const [name, member] of Object.entries(properties)) {
    yield [[...path, name].join('.'), member];
    yield* keysOf(member, [...path, name]);
  }
  for (const child of [additionalProperties, items])
    if (typeof child === 'object') yield* keysOf(child, [...path, '*']);
}

/** Keys without a reported change, with the reason. */
const IGNORED: Readonly<Record<string, string>> = {
  version: 'only one version exists',
  include: 'the included keys are compared',
  'invariants.file': 'the invariants of the file are compared',
  'invariants.*.require.served': 'it has one value, and any other requirement demands less',
  schemas: 'only a schema that a route uses matters, and it is reported for the route',
  'upstreams.*.tls.certificate': 'it changes only together with its key; a case of upstream-certificate changes both',
  'upstreams.*.tls.key': 'it changes only together with its certificate',
  'upstreams.*.health.connect':
    'it has one value, and changes only together with the path; a case of upstream-settings changes both',
};

/** Values for keys whose examples and similar values do not load. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  stores: { counters: { redis: 'redis://10.0.0.1:6379', secret: '${RATE_LIMIT_SECRET}' } },
  rateLimits: Object.fromEntries(
    ['account', 'address', 'caller'].map((id) => [id, { key: 'client', allow: '1 per 1s' }]),
  ),
  'rateLimits.*.key.client': { ipv6Prefix: 60 },
  'rateLimits.*.key.*.client': { ipv6Prefix: 60 },
  'invariants.*.except.*.route': 'account',
  'invariants.*.require.issuers.only': ['partners'],
  'routes.*.upstream': 'identity',
  'routes.*.upstreamPath.replace': '/',
  'routes.*.params.properties': { page: { type: 'integer', minimum: 2 } },
  'routes.*.query.properties': { page: { type: 'integer', minimum: 2 } },
  'routes.*.headers.properties': { 'X-Page': { type: 'integer', minimum: 2 } },
};

describe('a change of any key is reported by its own comparison', () => {
  test('in manifests that load', () => {
    for (const manifest of MANIFESTS) expect(loadFull(manifest).problems).toEqual([]);
  });

  test.each([...new Map(keysOf(manifestSchema))])('for the key %s', (key, node) => {
    if (key in IGNORED) return;
    const changes = changesOf(key, node).take(MAX_CHANGES).toArray();
    expect(changes.length, 'no manifest here has this key, or no other value of it loads').toBeGreaterThan(0);
    for (const { old, next, value } of changes) {
      const differences = diff(old, next).filter(({ rule }) => rule !== 'other-changed');
      expect([value, differences.length > 0]).toEqual([value, true]);
    }
  });
});

const SIDES = new Map(MANIFESTS.map((manifest) => [manifest, fullSideOf(manifest)]));
/** Most changes of one key are much like each other. */
const MAX_CHANGES = IS_DEEP ? Number.POSITIVE_INFINITY : 2;

interface Change {
  readonly old: DiffSide;
  readonly next: DiffSide;
  readonly value: unknown;
}

/** Yields manifests with other values of a key, or without it, if they load and differ. */
function* changesOf(key: string, node: SchemaNode): Generator<Change> {
  const path = key.split('.');
  const manifest = MANIFESTS.find((one) => holdersOf(one, path).length > 0);
  const old = manifest && SIDES.get(manifest);
  if (old === undefined) return;
  for (const [holder, name] of holdersOf(manifest, path))
    for (const value of [undefined, SAMPLES[key], ...samplesOf(node), ...similarValues(holder[name], node)]) {
      const before = holder[name];
      if (value === undefined) delete holder[name];
      else holder[name] = value;
      const next = fullSideOf(manifest);
      holder[name] = before;
      if (next !== undefined && !isDeepStrictEqual(old.manifest, next.manifest)) yield { old, next, value };
    }
}

type Holder = Record<string, unknown>;

/** Returns the maps and lists that contain a key, with the name of the key. */
function holdersOf(value: unknown, [first = '', ...rest]: readonly string[]): [Holder, string][] {
  if (value === null || typeof value !== 'object') return [];
  const holder = value as Holder;
  const names = first === '*' ? Object.keys(holder) : Object.hasOwn(holder, first) ? [first] : [];
  return names.flatMap((name) => (rest.length === 0 ? [[holder, name]] : holdersOf(holder[name], rest)));
}
