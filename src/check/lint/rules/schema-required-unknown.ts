import { suggestion } from '../../../engine/problem/did-you-mean.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { findingAt, type Rule } from '../rule.ts';

export const schemaRequiredUnknown: Rule = {
  id: 'schema-required-unknown',
  category: 'validation',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'A required member that the schema does not describe is usually misspelled: the gateway refuses every valid body, or does not validate the intended member.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace, isCondition } of schemas) {
      const { properties, required, patternProperties } = schema;
      if (isInPlace || isCondition || !isMap(properties) || !Array.isArray(required) || patternProperties !== undefined)
        continue;
      const names = Object.keys(properties);
      for (const [index, name] of required.entries())
        if (!names.includes(name))
          yield findingAt(
            [...path, 'required', index],
            `"${name}" is required but missing from "properties"${suggestion(name, names)}`,
          );
    }
  },
};
