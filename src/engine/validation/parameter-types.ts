import { valueAt } from '../json-pointer.ts';
import type { Path } from '../problem/finding.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import { inPlaceSchemasOf, isMap, type LocatedSchema } from '../schema/schema-walk.ts';

/** The JSON types that a text can have. */
type TextType = 'boolean' | 'number' | 'string';

const TEXT_TYPES: readonly TextType[] = ['boolean', 'number', 'string'];

/**
 * Returns the JSON types that valid values of a parameter may have; empty if no text is valid. It may return too many.
 *
 * @param named the types that the schema names
 */
export function possibleTypes(root: SchemaRoot, path: Path, named: ReadonlySet<string>): ReadonlySet<string> {
  const isParsed = (type: TextType) =>
    type === 'string' || named.has(type) || (type === 'number' && named.has('integer'));
  return new Set([...acceptedTypes(root, path)].filter(isParsed));
}

/** Returns the schemas that every value of a parameter must satisfy: its own, and those of `$ref` and `allOf`. */
export function requiredSchemas(root: SchemaRoot, path: Path): LocatedSchema[] {
  return schemasInPlace(root, path, (keyword) => keyword === '$ref' || keyword === 'allOf');
}

/** Returns the schema of a parameter and those inside of it that validate the same value. */
export function inlineSchemas(root: SchemaRoot, path: Path): LocatedSchema[] {
  return schemasInPlace(root, path, (keyword) => keyword !== '$ref');
}

function schemasInPlace(root: SchemaRoot, path: Path, isFollowed: (keyword: string) => boolean): LocatedSchema[] {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return [];
  const inside = inPlaceSchemasOf(root, path).filter(({ keyword }) => isFollowed(keyword));
  return [{ schema, at: path }, ...inside.flatMap((next) => schemasInPlace(root, next.path, isFollowed))];
}

function acceptedTypes(root: SchemaRoot, path: Path): ReadonlySet<TextType> {
  const schema = valueAt(root, path);
  if (!isMap(schema)) return new Set(schema === false ? [] : TEXT_TYPES);
  const types = new Set(TEXT_TYPES.filter((type) => allows(schema, type)));
  const keep = (accepted: ReadonlySet<TextType>) => {
    for (const type of types) if (!accepted.has(type)) types.delete(type);
  };
  const inPlace = inPlaceSchemasOf(root, path);
  if (inPlace.length === 0) return types;
  for (const group of ['anyOf', 'oneOf'] as const) {
    const branches = inPlace.filter(({ keyword }) => keyword === group);
    if (branches.length > 0) keep(new Set(branches.flatMap((branch) => [...acceptedTypes(root, branch.path)])));
  }
  for (const { keyword, path: at } of inPlace)
    if (keyword === '$ref' || keyword === 'allOf') keep(acceptedTypes(root, at));
  return types;
}

function allows(schema: Record<string, unknown>, type: TextType): boolean {
  const { type: named, enum: values, not } = schema;
  const names = [named ?? []].flat();
  const isNamed = names.length === 0 || names.includes(type) || (type === 'number' && names.includes('integer'));
  const isListed = !Array.isArray(values) || values.some((value) => typeof value === type);
  const isConst = !Object.hasOwn(schema, 'const') || typeof schema['const'] === type;
  return isNamed && isListed && isConst && !excludes(not, type);
}

/** True if `not` excludes every value of a type. */
function excludes(not: unknown, type: TextType): boolean {
  if (!isMap(not)) return not === true;
  const keywords = Object.keys(not);
  return keywords.length === 0 || (keywords.length === 1 && [not['type']].flat().includes(type));
}
