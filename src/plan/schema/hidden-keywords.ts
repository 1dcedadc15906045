import type { Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isDataKeyword, mapSchemas } from './schema-walk.ts';

/**
 * The keyword that lists those keywords beside it whose values came from the environment. It validates nothing. Clients never see
 * such values, and the validators of the other thread know nothing else of the environment.
 */
export const HIDDEN = { keyword: 'hidden', schemaType: 'array' } as const;

/** A copy in which every schema with values from the environment has the keyword. */
export function withHiddenKeywords(root: SchemaRoot, { hasSecretWithin }: Secrets): SchemaRoot {
  const marked = <T>(holder: T, at: Path): T => {
    if (!hasSecretWithin(at)) return holder;
    return mapSchemas(
      holder,
      (schema, inside) => withKeyword(schema, [...at, ...inside], hasSecretWithin),
      at.length === 1,
    );
  };
  return {
    schemas: marked(root.schemas, ['schemas']),
    routes: root.routes.map((route, index) => marked(route, ['routes', index])),
    files: root.files,
  };
}

/** The keywords of a schema whose values came from the environment. */
export function hiddenKeywordsOf(schema: unknown): readonly string[] {
  const hidden = schema === null || typeof schema !== 'object' ? undefined : Reflect.get(schema, HIDDEN.keyword);
  return Array.isArray(hidden) ? hidden : [];
}

function withKeyword(
  schema: Record<string, unknown>,
  path: Path,
  holdsSecret: Secrets['hasSecretWithin'],
): Record<string, unknown> {
  const hidden = Object.keys(schema).filter((key) => isText(key, schema[key]) && holdsSecret([...path, key]));
  return hidden.length === 0 ? schema : { ...schema, [HIDDEN.keyword]: hidden };
}

/** Schemas inside of a schema have a list of their own. */
function isText(key: string, value: unknown): boolean {
  return (
    isDataKeyword(key) ||
    typeof value === 'string' ||
    (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  );
}
