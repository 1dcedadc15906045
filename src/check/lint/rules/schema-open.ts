import { isMap } from '../../../engine/schema/schema-walk.ts';
import { findingAt, type Rule } from '../rule.ts';
import { allowsType } from '../schema-nodes.ts';

export const schemaOpen: Rule = {
  id: 'schema-open',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The gateway forwards members that the schema does not list without validation, for example "is_admin" to a framework that assigns every member it receives.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas) {
      const isOpen = !CLOSING.some((keyword) => Object.hasOwn(schema, keyword));
      if (isInPlace || !isOpen || !allowsType(schema, 'object') || !isMap(schema['properties'])) continue;
      yield findingAt(
        path,
        'unlisted members pass without validation; add additionalProperties: false, or true if that is intended',
      );
    }
  },
};

const CLOSING = ['additionalProperties', 'unevaluatedProperties', 'allOf', 'anyOf', 'oneOf', '$ref'];
