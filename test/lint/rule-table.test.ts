import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { generate } from '../../scripts/generate.ts';
import { CATEGORIES, type Rule } from '../../src/check/lint/rule.ts';
import { RULES } from '../../src/check/lint/rule-table.ts';

const root = new URL('../../', import.meta.url);
const SCHEMA = new URL('schema/gateway.schema.json', root);

describe('the rule table', () => {
  test('contains each id once', () => {
    const ids = RULES.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z]+(-[a-z]+)*$/.test(id))).toEqual([]);
  });

  test('gives the reason for every rule in one sentence', () => {
    for (const { id, rationale } of RULES)
      expect([id, rationale]).toEqual([id, expect.stringMatching(/^[A-Z].{10,}[^.]\.$/)]);
  });

  test('contains the rules of every file', async () => {
    const files = readdirSync(new URL('src/check/lint/rules/', root));
    const tables = await Promise.all(files.map((name) => import(new URL(`src/check/lint/rules/${name}`, root).href)));
    const found = tables.flatMap((table) => Object.values<readonly Rule[]>(table)).flat();
    expect(found.map(({ id }) => id).sort()).toEqual(
      RULES.filter(({ find }) => find !== undefined).map(({ id }) => id),
    );
  });

  test('contains more than forty rules with a function, and rules of every category', () => {
    expect(RULES.filter(({ find }) => find !== undefined).length).toBeGreaterThan(40);
    expect(new Set(RULES.map(({ category }) => category))).toEqual(new Set(Object.keys(CATEGORIES)));
  });

  test('contains no rule with a function that is an error, because a manifest that loads has no errors', () => {
    expect(RULES.filter(({ find, severity }) => find !== undefined && severity === 'error')).toEqual([]);
  });

  test('contains every error that a golden file of the manifest tests prints', () => {
    const ids = readdirSync(new URL('test/manifest/cases/', root));
    expect(ids.length).toBeGreaterThan(25);
    expect(ids.filter((id) => !RULES.some((rule) => rule.id === id && rule.severity === 'error'))).toEqual([]);
  });
});

test('the schema lists the rules that settings may change', async () => {
  const ids = RULES.filter(({ severity }) => severity !== 'error').map(({ id }) => id);
  const text = readFileSync(SCHEMA, 'utf8');
  const list = /("RuleId": \{[^}]*?"enum": \[)[^\]]*(\])/;
  const rows = ids.map((id) => `\n        "${id}"`).join(',');
  const expected = text.replace(list, (_match, open, close) => `${open}${rows}\n      ${close}`);
  if (process.env['UPDATE_GOLDEN'] === '1' && text !== expected) {
    writeFileSync(SCHEMA, expected);
    for (const [name, code] of Object.entries(await generate())) writeFileSync(new URL(`scripts/${name}`, root), code);
  }
  expect(readFileSync(SCHEMA, 'utf8') === expected, 'run UPDATE_GOLDEN=1 npx vitest run test/lint').toBe(true);
});
