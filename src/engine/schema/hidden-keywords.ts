import type { Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { INTERNAL_KEYWORDS } from './keywords.ts';
import { isDataKeyword, mapSchemas, type SchemaRoot } from './schema-walk.ts';

/**
 * A keyword that lists the keywords of its schema whose values came from the environment. It validates nothing. Clients
 * never see such values, and the validators in the worker thread have no other information about the environment.
 */
export const HIDDEN = { keyword: INTERNAL_KEYWORDS.hidden, schemaType: 'array' } as const;

/** Returns a copy of the root in which every schema with values from the environment has the keyword. */
export function withHiddenKeywords(root: SchemaRoot, { hasSecretWithin }: Secrets): SchemaRoot {
  const mark = <T>(holder: T, at: Path): T => {
    if (!hasSecretWithin(at)) return holder;
    return mapSchemas(
      holder,
      (schema, inside) => withKeyword(schema, [...at, ...inside], hasSecretWithin),
      at.length === 1,
    );
  };
  return {
    schemas: mark(root.schemas, ['schemas']),
    routes: root.routes.map((route, index) => mark(route, ['routes', index])),
    files: root.files,
  };
}

/** Returns the keywords of a schema whose values came from the environment. */
export function hiddenKeywordsOf(schema: unknown): readonly string[] {
  const hidden = schema === null || typeof schema !== 'object' ? undefined : Reflect.get(schema, HIDDEN.keyword);
  return Array.isArray(hidden) ? hidden : [];
}

function withKeyword(schema: Record<string, unknown>, path: Path, hasSecretWithin: Secrets['hasSecretWithin']) {
  const hidden = Object.keys(schema).filter(
    (key) => hasPlainValue(key, schema[key]) && hasSecretWithin([...path, key]),
  );
  return hidden.length === 0 ? schema : { ...schema, [HIDDEN.keyword]: hidden };
}

/** True if a keyword's value contains no schema: subschemas list their own keywords. */
function hasPlainValue(key: string, value: unknown): boolean {
  return (
    isDataKeyword(key) ||
    typeof value === 'string' ||
    (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  );
}
