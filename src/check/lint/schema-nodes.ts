import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { keywordsWith } from '../../engine/schema/keywords.ts';
import { type LocatedSchema, schemasOfRoute, schemasWithin } from '../../engine/schema/schema-walk.ts';

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

const IN_PLACE = new Set<string | undefined>(keywordsWith({ appliesTo: 'value' }));
const CONDITIONS = new Set<string | undefined>(keywordsWith({ isCondition: true }));

/** Returns all schemas of a manifest, including nested ones. */
export function schemaNodes({ schemas, routes }: Manifest): SchemaNode[] {
  const located = [
    ...Object.entries(schemas).flatMap(([name, schema]) => schemasWithin(schema, ['schemas', name])),
    ...routes.flatMap((route, index) => schemasOfRoute(route, ['routes', index])),
  ];
  return located.map((one) => ({
    path: one.at,
    schema: one.schema,
    isInPlace: IN_PLACE.has(one.keyword),
    isCondition: isCondition(one),
  }));
}

function isCondition({ keyword, holder }: LocatedSchema): boolean {
  return CONDITIONS.has(keyword) || (holder !== undefined && isCondition(holder));
}
