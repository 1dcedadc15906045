import { findingAt, type Rule } from '../rule.ts';

export const schemaTypeMissing: Rule = {
  id: 'schema-type-missing',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A keyword judges values of its own type and lets all others pass: { maxLength: 5 } takes any number, any list and any object.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas) {
      const isParameter = path[2] === 'params' || path[2] === 'query' || path[2] === 'headers';
      if (isInPlace || isParameter || SAYING.some((keyword) => Object.hasOwn(schema, keyword))) continue;
      const keyword = Object.keys(schema).find((name) => Object.hasOwn(TYPES, name)) ?? '';
      const type = TYPES[keyword];
      if (type !== undefined)
        yield findingAt(path, `"${keyword}" judges ${type}s alone, and anything else passes here; add type: ${type}`);
    }
  },
};

const SAYING = ['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
const TYPES: Readonly<Record<string, string>> = {
  ...{ maxLength: 'string', minLength: 'string', pattern: 'string', format: 'string' },
  ...{
    maximum: 'number',
    minimum: 'number',
    exclusiveMaximum: 'number',
    exclusiveMinimum: 'number',
    multipleOf: 'number',
  },
  ...{ maxItems: 'array', minItems: 'array', uniqueItems: 'array', items: 'array', prefixItems: 'array' },
  ...{ properties: 'object', required: 'object', additionalProperties: 'object', patternProperties: 'object' },
};
