import { describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { INTERNAL_KEYWORDS, keywordsWith, validatedType } from '../../../src/engine/schema/keywords.ts';
import { worldOf } from '../../support/gateway.ts';

function problemsOf(schema: unknown) {
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:1' } },
    schemas: { A: schema },
    routes: [{ id: 'a', method: 'GET', path: '/a', upstream: 'up', access: 'public' }],
  };
  return load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf()).problems;
}

describe('the keywords that the gateway adds for itself', () => {
  it.each(Object.values(INTERNAL_KEYWORDS))('rejects "%s" in a schema of the manifest', (keyword) => {
    expect(problemsOf({ type: 'string', [keyword]: 5 })).toMatchObject([
      { rule: 'body-schema', message: expect.stringMatching(`^"${keyword}" is not a keyword of JSON Schema; `) },
    ]);
  });

  it.each(Object.values(INTERNAL_KEYWORDS))('accepts a member named "%s"', (name) => {
    expect(problemsOf({ type: 'object', properties: { [name]: { type: 'string' } } })).toEqual([]);
  });
});

describe('the table of keywords', () => {
  it('lists the keywords with all given properties', () => {
    expect(keywordsWith({ appliesTo: 'value', isCondition: true })).toEqual(['if', 'not']);
    expect(keywordsWith({ appliesTo: 'items', selects: 'rest' })).toEqual(['items', 'unevaluatedItems']);
  });

  it('has no type for a keyword that validates every type, or that it does not list', () => {
    expect(validatedType('minLength')).toBe('string');
    expect(validatedType('enum')).toBeUndefined();
    expect(validatedType('constructor')).toBeUndefined();
  });
});
