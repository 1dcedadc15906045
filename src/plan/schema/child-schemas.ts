import type { Path } from '../../problem/finding.ts';
import { keywordsWith } from './keywords.ts';
import { isMap, valueAt } from './schema-walk.ts';

/** A schema that judges members or items of the value that the schema around it judges. */
export interface ChildSchema {
  readonly keyword: string;
  /** The member's name, the item's index, or the pattern of names. */
  readonly name: string;
  readonly path: Path;
  /** The schema around it, as it was met this time: met again, it judges again. */
  readonly parent: { readonly schema: Record<string, unknown> };
}

const OF_OBJECTS = keywordsWith({ appliesTo: 'members' });
const OF_LISTS = keywordsWith({ appliesTo: 'items' });
const SINGLE = new Set(keywordsWith({ holds: 'schema' }));
const NAMED = new Set(keywordsWith({ selects: 'named' }));
const REST = new Set(keywordsWith({ selects: 'rest' }));

export function childSchemasOf(root: unknown, path: Path): ChildSchema[] {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return [];
  const parent = { schema };
  return [...OF_OBJECTS, ...OF_LISTS].flatMap((keyword) => {
    const inside = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (inside === null || typeof inside !== 'object') return [];
    if (SINGLE.has(keyword)) return [{ keyword, name: '', path: [...path, keyword], parent }];
    return Object.keys(inside).map((name) => ({ keyword, name, path: [...path, keyword, name], parent }));
  });
}

/** Whether two of them may judge the same member or item. Where that is not plain to see, they may. */
export function mayOverlap(one: ChildSchema, other: ChildSchema): boolean {
  if (OF_OBJECTS.includes(one.keyword) !== OF_OBJECTS.includes(other.keyword)) return false;
  if (NAMED.has(other.keyword) && !NAMED.has(one.keyword)) return mayOverlap(other, one);
  if (NAMED.has(one.keyword)) {
    if (NAMED.has(other.keyword)) return one.name === other.name;
    if (other.keyword === 'patternProperties') return mayMatch(other.name, one.name);
    return !REST.has(other.keyword) || !isNamedBeside(other, one.name);
  }
  const isRest = REST.has(one.keyword) || REST.has(other.keyword);
  return one.parent !== other.parent || !isRest || one.keyword === 'contains' || other.keyword === 'contains';
}

function mayMatch(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern).test(name);
  } catch {
    return true;
  }
}

function isNamedBeside({ keyword, parent }: ChildSchema, name: string): boolean {
  const names = OF_OBJECTS.includes(keyword) ? parent.schema['properties'] : parent.schema['prefixItems'];
  return names !== null && typeof names === 'object' && Object.hasOwn(names, name);
}
