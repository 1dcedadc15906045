import { unescapePointerStep } from '../../../engine/json-pointer.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const schemaUnused: Rule = {
  id: 'schema-unused',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A schema without references validates nothing: either a body that should be validated is not, or the schema is obsolete.',
  *find({ manifest, schemas }) {
    const used = new Set<string>();
    const usedBy = new Map<string, string[]>();
    for (const { schema, path } of schemas) {
      if (!Object.hasOwn(schema, '$ref')) continue;
      const [, name] = /^#\/schemas\/([^/]+)/.exec(String(schema['$ref'])) ?? [];
      if (name === undefined) continue;
      const user = String(path[1]);
      if (path[0] === 'schemas') usedBy.set(user, [...(usedBy.get(user) ?? []), nameOf(name)]);
      else used.add(nameOf(name));
    }
    // The loop also visits names that it adds: a schema that a used schema refers to is used.
    for (const name of used) for (const other of usedBy.get(name) ?? []) used.add(other);
    for (const name of Object.keys(manifest.schemas))
      if (!used.has(name))
        yield findingAtKey(['schemas', name], `nothing refers to "${name}"; refer to it, or remove it`);
  },
};

/** Decodes a step of a JSON Pointer in a URI fragment (RFC 6901 section 6). */
function nameOf(step: string): string {
  return unescapePointerStep(decodeURIComponent(step));
}
