import { valueAt } from '../json-pointer.ts';
import type { Path } from '../problem/finding.ts';
import { keywordsWith } from './keywords.ts';
import { isMap } from './schema-walk.ts';

/** A schema that validates members or items of the value that its parent validates. */
export interface ChildSchema {
  readonly keyword: string;
  /** The member's name, the item's index, or the pattern of names. */
  readonly name: string;
  readonly path: Path;
  /** The parent schema, as an object of each visit: a second visit means that the parent validates the value twice. */
  readonly parent: { readonly schema: Record<string, unknown> };
}

const MEMBER_KEYWORDS = keywordsWith({ appliesTo: 'members' });
const ITEM_KEYWORDS = keywordsWith({ appliesTo: 'items' });
const SINGLE = new Set(keywordsWith({ holds: 'schema' }));
const NAMED = new Set(keywordsWith({ selects: 'named' }));
const REST = new Set(keywordsWith({ selects: 'rest' }));

/** Returns the schemas that validate members or items for the schema at a path. */
export function childSchemasOf(root: unknown, path: Path): ChildSchema[] {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return [];
  const parent = { schema };
  return [...MEMBER_KEYWORDS, ...ITEM_KEYWORDS].flatMap((keyword) => {
    const inside = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (inside === null || typeof inside !== 'object') return [];
    if (SINGLE.has(keyword)) return [{ keyword, name: '', path: [...path, keyword], parent }];
    return Object.keys(inside).map((name) => ({ keyword, name, path: [...path, keyword, name], parent }));
  });
}

/** True if two child schemas may validate the same member or item. Returns true if it cannot decide. */
export function mayOverlap(one: ChildSchema, other: ChildSchema): boolean {
  if (MEMBER_KEYWORDS.includes(one.keyword) !== MEMBER_KEYWORDS.includes(other.keyword)) return false;
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
  const names = MEMBER_KEYWORDS.includes(keyword) ? parent.schema['properties'] : parent.schema['prefixItems'];
  return names !== null && typeof names === 'object' && Object.hasOwn(names, name);
}
