import { findingAt, type Rule } from '../rule.ts';
import { allowsType, isMap } from '../schema-nodes.ts';

export const schemaOpen: Rule = {
  id: 'schema-open',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Members that the schema does not know go on to the upstream unjudged: "is_admin" say, where a framework fills in whatever is sent.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas) {
      const isOpen = !CLOSING.some((keyword) => Object.hasOwn(schema, keyword));
      if (isInPlace || !isOpen || !allowsType(schema, 'object') || !isMap(schema['properties'])) continue;
      yield findingAt(
        path,
        'members that are not listed here pass unjudged; add additionalProperties: false, or true if that is meant',
      );
    }
  },
};

const CLOSING = ['additionalProperties', 'unevaluatedProperties', 'allOf', 'anyOf', 'oneOf', '$ref'];
