import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LoadResult, load } from '../src/engine/load.ts';
import { formatProblems } from '../src/report/text.ts';
import { anyCharacter } from './support/any-character.ts';
import { runs } from './support/runs.ts';

const GATEWAY = readFileSync(new URL('../gateway.yaml', import.meta.url), 'utf8');
const KEYS = JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }] });

const world = {
  env: { HOST: 'h', EMPTY: '' },
  readFile: (path: string) => {
    if (path === 'keys.json') return KEYS;
    throw Object.assign(new Error('no file'), { code: 'ENOENT' });
  },
};

function loadText(text: string, previous?: LoadResult['plan']): LoadResult {
  return load({ path: 'gateway.yaml', text }, world, previous);
}

/** Loads a text and checks every invariant of `load`. */
function expectInvariants(text: string): void {
  const { plan, problems } = loadText(text);
  const lines = text.split('\n');
  const errors = problems.filter(({ severity }) => severity === 'error');
  expect(plan === undefined).toBe(errors.length > 0);
  for (const { file, message, range, related } of problems) {
    expect(file).toBe('gateway.yaml');
    expect(message).toMatch(/^\S.*\S$/u);
    expect(message).not.toMatch(/undefined|\[object|NaN|Maximum call/);
    for (const { line, column, endLine, endColumn } of related === undefined ? [range] : [range, related.range]) {
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
      expect(endLine).toBeLessThanOrEqual(lines.length);
      expect(endColumn).toBeLessThanOrEqual((lines[endLine - 1]?.length ?? 0) + 1);
      expect(endLine > line || (endLine === line && endColumn >= column)).toBe(true);
    }
  }
  const positions = problems.map(({ range }) => [range.line, range.column] as const);
  expect(positions).toEqual(positions.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
  formatProblems(problems, text, true);
}

describe('load keeps its invariants for', () => {
  test('any string', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), expectInvariants), { numRuns: runs(500) });
  });

  test('any text of YAML syntax characters', () => {
    const character = fc.constantFrom(
      ...'-:?,[]{}#&*!|>\'"%@`\\ \n\t\r~<=$aA0.\uFEFF\u2028\u00e9'.split(''),
      '---',
      '\n  ',
      ': ',
      '- ',
      '<<: ',
      '${',
      '...',
    );
    fc.assert(
      fc.property(
        fc.array(character, { maxLength: 60 }).map((parts) => parts.join('')),
        expectInvariants,
      ),
      { numRuns: runs(1000) },
    );
  });

  test('any value of any top-level member', () => {
    const keys = fc.constantFrom(
      'version',
      'listen',
      'admin',
      'upstreams',
      'auth',
      'schemas',
      'routes',
      '__proto__',
      'toString',
    );
    const base = {
      version: 1,
      upstreams: { up: { url: 'http://a' } },
      routes: [{ id: 'a', method: 'GET', path: '/', upstream: 'up', access: 'public' }],
    };
    const text = fc
      .tuple(keys, fc.jsonValue({ maxDepth: 3 }))
      .map(([key, value]) => JSON.stringify({ ...base, ...Object.fromEntries([[key, value]]) }, null, 1));
    fc.assert(fc.property(text, expectInvariants), { numRuns: runs(500) });
  });

  test('any value as a body schema', () => {
    const keywords = fc.constantFrom(
      'type',
      '$ref',
      'pattern',
      'format',
      'properties',
      'items',
      'allOf',
      'not',
      'enum',
      'const',
      '$id',
      '$anchor',
      '$schema',
      '$defs',
      '$dynamicRef',
      'if',
      'then',
      'required',
      'patternProperties',
      'maxLength',
      'constructor',
      'schemas',
      'routes',
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom<unknown>(
          true,
          1,
          'string',
          'object',
          '#/schemas/A',
          '#/schemas/A/not',
          '#/schemas/A/allOf/0',
          '#',
          '(',
          'email',
          null,
        ),
        fc.array(tie('schema'), { maxLength: 2 }),
        fc.dictionary(keywords, tie('schema'), { maxKeys: 3 }),
      ),
    }));
    const text = schema.map(
      (value) => `version: 1
upstreams: { up: { url: http://a } }
schemas: ${JSON.stringify({ A: value, B: { $ref: '#/schemas/A' } })}
routes:
  - { id: a, method: POST, path: /, upstream: up, access: public, body: { schema: { $ref: '#/schemas/B' } } }
`,
    );
    fc.assert(
      fc.property(text, (generated) => {
        expectInvariants(generated);
        const { plan } = loadText(generated);
        // A schema that loads validates any body and terminates.
        for (const body of ['{"type":{"type":1}}', '[[[]]]', '"a"', '1'])
          plan?.routes[0]?.body?.validate?.(Buffer.from(body));
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('gateway.yaml', () => {
  test('loads without problems', () => {
    const { plan, problems } = loadText(GATEWAY);
    expect(problems).toEqual([]);
    expect(plan?.routes.length).toBeGreaterThan(30);
  });

  const lines = GATEWAY.split('\n');
  const anyLine = fc.nat(lines.length - 1);

  test('keeps the invariants without one of its lines', () => {
    for (let index = 0; index < lines.length; index += 3) expectInvariants(lines.toSpliced(index, 1).join('\n'));
  });

  test('keeps the invariants with lines doubled, swapped, indented and removed', () => {
    const change = fc.tuple(fc.constantFrom('remove', 'double', 'swap', 'indent', 'outdent', 'join'), anyLine, anyLine);
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const text = changes.reduce((current, [kind, one, other]) => applyChange(current, kind, one, other), lines);
        expectInvariants(text.join('\n'));
      }),
      { numRuns: runs(150) },
    );
  });

  test('keeps the invariants with random characters', () => {
    const edit = fc.record({
      at: fc.nat(GATEWAY.length),
      remove: fc.nat(3),
      add: fc.string({ unit: anyCharacter, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        expectInvariants(
          edits.reduce((text, { at, remove, add }) => text.slice(0, at) + add + text.slice(at + remove), GATEWAY),
        );
      }),
      { numRuns: runs(200) },
    );
  });

  test('keeps the invariants with random bytes, read as UTF-8', () => {
    const bytes = Buffer.from(GATEWAY);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
        (edits) => {
          const copy = Buffer.from(bytes);
          for (const [at, byte] of edits) copy[at] = byte;
          expectInvariants(copy.toString('utf8'));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test('keeps the invariants if cut off anywhere', () => {
    fc.assert(
      fc.property(fc.nat(GATEWAY.length), (length) => expectInvariants(GATEWAY.slice(0, length))),
      { numRuns: runs(150) },
    );
  });
});

function applyChange(lines: readonly string[], kind: string, one: number, other: number): string[] {
  const line = lines[one] ?? '';
  if (kind === 'remove') return lines.toSpliced(one, 1);
  if (kind === 'double') return lines.toSpliced(other, 0, line);
  if (kind === 'swap') return lines.with(one % lines.length, lines[other] ?? '').with(other % lines.length, line);
  if (kind === 'indent') return lines.with(one % lines.length, ` ${line}`);
  if (kind === 'outdent') return lines.with(one % lines.length, line.replace(/^ /, ''));
  return lines.toSpliced(one, 2, `${line}${lines[one + 1] ?? ''}`);
}

describe('a plan', () => {
  test('is undefined if there is any error', () => {
    const { plan, problems } = loadText(GATEWAY.replace('access: protected', 'access: portected'));
    expect(plan).toBeUndefined();
    expect(problems).toHaveLength(1);
  });

  test('is frozen, as are its routes and upstreams', () => {
    const { plan } = loadText(GATEWAY);
    expect(Object.isFrozen(plan)).toBe(true);
    expect(plan?.routes.every((route) => Object.isFrozen(route))).toBe(true);
    expect(plan?.upstreams.every((upstream) => Object.isFrozen(upstream))).toBe(true);
  });

  test('has the hash of the text', () => {
    expect(loadText(GATEWAY).plan?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(loadText(GATEWAY).plan?.hash).toBe(loadText(GATEWAY).plan?.hash);
    expect(loadText(`${GATEWAY}\n`).plan?.hash).not.toBe(loadText(GATEWAY).plan?.hash);
  });

  test('does not depend on earlier loads', () => {
    const before = loadText(GATEWAY).plan;
    loadText(GATEWAY.replace('version: 1', 'version: 2'));
    const after = loadText(GATEWAY).plan;
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });
});
