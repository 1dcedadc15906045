import { expect, test } from 'vitest';
import { CONTENT_METHODS, HTTP_METHODS, IDEMPOTENT_METHODS, sortMethods } from '../src/engine/http1/http-methods.ts';
import { manifestSchema } from './support/manifest-schema.ts';

test('the methods are those of the schema', () => {
  expect(HTTP_METHODS).toEqual(manifestSchema.$defs?.['Method']?.enum?.toSorted());
});

test('every list of methods is a part of all methods', () => {
  for (const method of [...IDEMPOTENT_METHODS, ...CONTENT_METHODS]) expect(HTTP_METHODS).toContain(method);
});

test('the most common methods come first', () => {
  expect(sortMethods(HTTP_METHODS).toSorted()).toEqual(HTTP_METHODS);
  expect(sortMethods(['DELETE', 'POST', 'GET'])).toEqual(['GET', 'POST', 'DELETE']);
});
