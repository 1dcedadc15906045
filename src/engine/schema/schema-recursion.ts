import { attempt } from '../attempt.ts';
import { getOrCreate } from '../get-or-create.ts';
import { formatPointer, valueAt } from '../json-pointer.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { keywordsWith } from './keywords.ts';
import { inPlaceSchemasOf, isMap, type LocatedSchema, type SchemaRoot, targetsIn } from './schema-walk.ts';

const MESSAGE =
  'two branches of this recursion may validate the same member, so each level multiplies the work; write the recursion once, outside of the branches';

/**
 * Creates the check for recursive schemas that validate a member more than once, for example in two branches of a
 * `oneOf`. Each level of nesting multiplies the time, so a body with sixty levels would never finish. Each cycle is
 * reported once. The check takes a schema and its subschemas.
 */
export function createRecursionCheck(root: SchemaRoot): (schemas: readonly LocatedSchema[]) => Finding[] {
  const edges = new Map<string, readonly Path[]>();
  const visited = new Set<string>();
  /** Returns the schemas that a schema leads to, for the same value or for parts of it. */
  const nextOf = (at: Path) =>
    getOrCreate(edges, formatPointer(at), () =>
      [...inPlaceSchemasOf(root, at), ...childSchemasOf(root, at)].map(({ path }) => path),
    );
  return (schemas) => {
    const findings: Finding[] = [];
    for (const target of targetsIn(schemas)) {
      if (visited.has(formatPointer(target))) continue;
      const cycle = cycleOf(target, nextOf);
      for (const pointer of [formatPointer(target), ...cycle.keys()]) visited.add(pointer);
      const repeated = cycle.values().map((path) => findRepeated(root, path, cycle));
      const first = repeated.find((path) => path !== undefined);
      if (first !== undefined) findings.push(errorAt(first, 'body-schema', MESSAGE));
    }
    return findings;
  };
}

/** The schemas of a cycle by their pointers. */
type Cycle = ReadonlyMap<string, Path>;

/** Returns the schemas through which a schema leads back to itself; empty if it does not. */
function cycleOf(start: Path, nextOf: (at: Path) => readonly Path[]): Cycle {
  const callers = new Map<string, string[]>();
  const reached = new Map([[formatPointer(start), start]]);
  // Entries that are added during a loop are visited too.
  for (const [pointer, at] of reached)
    for (const path of nextOf(at)) {
      const next = formatPointer(path);
      getOrCreate(callers, next, (): string[] => []).push(pointer);
      reached.set(next, path);
    }
  const cycle = new Set(callers.get(formatPointer(start)));
  for (const pointer of cycle) for (const caller of callers.get(pointer) ?? []) cycle.add(caller);
  return new Map([...cycle].map((pointer) => [pointer, reached.get(pointer) ?? []]));
}

/** Returns the path of the schema in the cycle that validates a member for the second time. */
function findRepeated(root: SchemaRoot, path: Path, cycle: Cycle): Path | undefined {
  const seen: ChildSchema[] = [];
  // Schemas that add nothing to `seen`. Without them, a chain of branches would double the visits at each step.
  const barren = new Set<string>();
  const visit = (at: Path, open: readonly string[]): Path | undefined => {
    const pointer = formatPointer(at);
    if (open.includes(pointer) || barren.has(pointer)) return undefined;
    const count = seen.length;
    for (const child of childSchemasOf(root, at)) {
      if (!cycle.has(formatPointer(child.path))) continue;
      if (seen.some((other) => mayOverlap(other, child))) return child.path;
      seen.push(child);
    }
    for (const next of inPlaceSchemasOf(root, at)) {
      const repeated = visit(next.path, [...open, pointer]);
      if (repeated !== undefined) return repeated;
    }
    if (seen.length === count) barren.add(pointer);
    return undefined;
  };
  return visit(path, []);
}

/** A schema that validates members or items of the value that its parent validates. */
interface ChildSchema {
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
function childSchemasOf(root: unknown, path: Path): ChildSchema[] {
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
function mayOverlap(one: ChildSchema, other: ChildSchema): boolean {
  if (MEMBER_KEYWORDS.includes(one.keyword) !== MEMBER_KEYWORDS.includes(other.keyword)) return false;
  if (NAMED.has(other.keyword) && !NAMED.has(one.keyword)) return mayOverlap(other, one);
  if (NAMED.has(one.keyword)) {
    if (NAMED.has(other.keyword)) return one.name === other.name;
    if (other.keyword === 'patternProperties') return attempt(() => new RegExp(other.name).test(one.name)) ?? true;
    return !REST.has(other.keyword) || !isNamedBeside(other, one.name);
  }
  const isRest = REST.has(one.keyword) || REST.has(other.keyword);
  return one.parent !== other.parent || !isRest || one.keyword === 'contains' || other.keyword === 'contains';
}

function isNamedBeside({ keyword, parent }: ChildSchema, name: string): boolean {
  const names = MEMBER_KEYWORDS.includes(keyword) ? parent.schema['properties'] : parent.schema['prefixItems'];
  return names !== null && typeof names === 'object' && Object.hasOwn(names, name);
}
