import { formatPointer, valueAt } from '../json-pointer.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { type InPlaceSchema, inPlaceSchemasOf, type SchemaRoot, schemasWithin } from './schema-walk.ts';

const RULE = 'body-schema';
/** Each reference takes space on the stack while a value is validated. */
const MAX_CHAIN = 64;
const MAX_LISTED = 8;

/** A schema on the way of the search, and the schemas for the same value that it leads to. */
interface Visit {
  readonly pointer: string;
  readonly path: Path;
  readonly next: readonly InPlaceSchema[];
  /** The number of entries of `next` that the search has followed. */
  followed: number;
  /** The length of the longest chain of references from here. */
  chain: number;
}

/**
 * Finds references that lead back to their own schema for the same value, so that its validation would never end, once for each circle, and
 * very long chains of references. Searches the schemas at these paths and their subschemas.
 */
export function circularReferenceFindings(root: SchemaRoot, starts: Iterable<Path>): Finding[] {
  const findings: Finding[] = [];
  const chains = new Map<string, number>();
  for (const start of starts)
    for (const { schema, at } of schemasWithin(valueAt(root, start), start))
      if (Object.hasOwn(schema, '$ref')) search(root, at, chains, findings);
  return findings;
}

/** Searches depth first, without recursion, because a chain of references may be very long. */
function search(root: SchemaRoot, start: Path, chains: Map<string, number>, findings: Finding[]): void {
  if (chains.has(formatPointer(start))) return;
  const open: Visit[] = [visitOf(root, start)];
  const openPointers = new Map([[formatPointer(start), 0]]);
  for (let visit = open.at(-1); visit !== undefined; visit = open.at(-1)) {
    const edge = visit.next[visit.followed++];
    if (edge === undefined) {
      open.pop();
      openPointers.delete(visit.pointer);
      chains.set(visit.pointer, visit.chain);
      const caller = open.at(-1);
      if (caller !== undefined) lengthen(caller, visit.chain, findings);
      continue;
    }
    const pointer = formatPointer(edge.path);
    const known = chains.get(pointer);
    const circle = openPointers.get(pointer);
    if (circle !== undefined) findings.push(circleFinding(open.slice(circle)));
    else if (known !== undefined) lengthen(visit, known, findings);
    else {
      openPointers.set(pointer, open.length);
      open.push(visitOf(root, edge.path));
    }
  }
}

function visitOf(root: SchemaRoot, path: Path): Visit {
  return { pointer: formatPointer(path), path, next: inPlaceSchemasOf(root, path), followed: 0, chain: 0 };
}

/** Adds the edge that the visit followed last to its longest chain. */
function lengthen(visit: Visit, chain: number, findings: Finding[]): void {
  const isReference = visit.next[visit.followed - 1]?.keyword === '$ref';
  const length = chain + (isReference ? 1 : 0);
  if (isReference && length === MAX_CHAIN + 1 && visit.chain < length) {
    const message = `more than ${MAX_CHAIN} references in a row lead from here; refer to the last schema directly`;
    findings.push(errorAt([...visit.path, '$ref'], RULE, message));
  }
  visit.chain = Math.max(visit.chain, length);
}

function circleFinding(circle: readonly Visit[]): Finding {
  const references = circle.flatMap(({ path, next, followed }) => {
    const { keyword, path: target = [] } = next[followed - 1] ?? {};
    return keyword === '$ref' ? [{ at: [...path, '$ref'], target: nameOf(target) }] : [];
  });
  const names = references.map(({ target }) => target);
  const shown = names.length > MAX_LISTED ? [...names.slice(0, MAX_LISTED), '…'] : names;
  return errorAt(
    references[0]?.at ?? [],
    RULE,
    `this refers back to itself without end (${[...shown, names[0]].join(' → ')}); refer to the schema of a member instead, such as one in "properties"`,
  );
}

/** Returns the reference to a schema as an author writes it. */
function nameOf([first, name, ...inside]: Path): string {
  const pointer = inside.length === 0 ? '' : formatPointer(inside);
  return first === 'files' ? `${name}#${pointer}` : `#/${first}/${name}${pointer}`;
}
