import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { SCHEMA_KEYWORDS } from '../../engine/schema/keywords.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON Schema that is a map, with its path in the manifest. */
export interface SchemaNode {
  readonly path: Path;
  readonly schema: Schema;
  /** True if another schema applies to the same value, as in `allOf`, and may contain the keywords that this one lacks. */
  readonly isInPlace: boolean;
  /** True below `if` and `not`: a request may be valid although it does not match such a schema. */
  readonly isCondition: boolean;
}

/** Returns all schemas of a manifest, including nested ones. */
export function schemaNodes({ schemas, routes }: Manifest): SchemaNode[] {
  const found: SchemaNode[] = [];
  collectMembers(schemas, ['schemas'], false, false, found);
  for (const [index, route] of routes.entries()) {
    for (const name of ['params', 'query', 'headers'] as const) {
      const section = route[name];
      if (section !== undefined)
        collectMembers(section.properties, ['routes', index, name, 'properties'], false, false, found);
    }
    const schema = route.body?.schema;
    if (schema !== undefined) collectNodes(schema, ['routes', index, 'body', 'schema'], false, false, found);
  }
  return found;
}

/** Adds to a list, because nested generators would take longer than all rules that read the schemas. */
function collectNodes(
  schema: unknown,
  path: Path,
  isInPlace: boolean,
  isCondition: boolean,
  found: SchemaNode[],
): void {
  if (!isMap(schema)) return;
  found.push({ path, schema, isInPlace, isCondition });
  // Most schemas have no keyword that holds schemas, and few of their own keywords.
  if (!Object.keys(schema).some((keyword) => HOLDING.has(keyword))) return;
  for (const { keyword, isMember, isForSameValue, isCondition: isConditional } of HOLDERS) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const collect = isMember ? collectMembers : collectNodes;
    collect(schema[keyword], [...path, keyword], isForSameValue, isCondition || isConditional, found);
  }
}

const HOLDERS = SCHEMA_KEYWORDS.map(([keyword, { holds, appliesTo, isCondition = false }]) => ({
  keyword,
  isMember: holds !== 'schema',
  isForSameValue: appliesTo === 'value',
  isCondition,
}));
const HOLDING = new Set(HOLDERS.map(({ keyword }) => keyword));

function collectMembers(
  members: unknown,
  path: Path,
  isInPlace: boolean,
  isCondition: boolean,
  found: SchemaNode[],
): void {
  if (Array.isArray(members))
    for (const [index, item] of members.entries()) collectNodes(item, [...path, index], isInPlace, isCondition, found);
  else if (isMap(members))
    for (const name of Object.keys(members))
      collectNodes(members[name], [...path, name], isInPlace, isCondition, found);
}
