import { findingAt, type Rule } from '../rule.ts';

export const schemaTypeMissing: Rule = {
  id: 'schema-type-missing',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A keyword applies only to values of its own type: { maxLength: 5 } accepts every number, list and object.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas) {
      const isParameter = path[2] === 'params' || path[2] === 'query' || path[2] === 'headers';
      if (isInPlace || isParameter || TYPE_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) continue;
      const keyword = Object.keys(schema).find((name) => Object.hasOwn(TYPES, name)) ?? '';
      const type = TYPES[keyword];
      if (type !== undefined)
        yield findingAt(
          path,
          `"${keyword}" applies only to type ${type}, so this schema accepts every other type; add type: ${type}`,
        );
    }
  },
};

const TYPE_KEYWORDS = ['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
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
