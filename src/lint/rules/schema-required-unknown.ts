import { suggestion } from '../../problem/did-you-mean.ts';
import { at, type Rule } from '../rule.ts';
import { isMap } from '../schema-nodes.ts';

export const schemaRequiredUnknown: Rule = {
  id: 'schema-required-unknown',
  family: 'validation',
  severity: 'warning',
  preset: 'minimal',
  why: 'A required member that the schema does not describe is mostly a misspelt one: every good body is refused, or the real one is not judged.',
  *find({ schemas }) {
    for (const { schema, path, isPart, isCondition } of schemas) {
      const { properties, required, patternProperties } = schema;
      if (isPart || isCondition || !isMap(properties) || !Array.isArray(required) || patternProperties !== undefined)
        continue;
      const known = Object.keys(properties);
      for (const [index, name] of required.entries())
        if (!known.includes(name))
          yield at(
            [...path, 'required', index],
            `"${name}" is required, and "properties" does not describe it${suggestion(name, known)}`,
          );
    }
  },
};
