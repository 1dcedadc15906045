import { suggestion } from '../../problem/did-you-mean.ts';
import { findingAt, type Rule } from '../rule.ts';
import { isMap } from '../schema-nodes.ts';

export const schemaRequiredUnknown: Rule = {
  id: 'schema-required-unknown',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'A required member that the schema does not describe is mostly a misspelt one: every good body is refused, or the real one is not judged.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace, isCondition } of schemas) {
      const { properties, required, patternProperties } = schema;
      if (isInPlace || isCondition || !isMap(properties) || !Array.isArray(required) || patternProperties !== undefined)
        continue;
      const known = Object.keys(properties);
      for (const [index, name] of required.entries())
        if (!known.includes(name))
          yield findingAt(
            [...path, 'required', index],
            `"${name}" is required, and "properties" does not describe it${suggestion(name, known)}`,
          );
    }
  },
};
