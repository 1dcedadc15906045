import { formatPointer } from '../../json-pointer.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import { type ChildSchema, childSchemasOf, mayOverlap } from './child-schemas.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, keywordsOf, referencePath, valueAt } from './schema-walk.ts';

const MESSAGE =
  'this may judge a member that another branch judges too, and so on at each level, without bound; let the recursion stand once, beside the branches';

/** A schema, and where others lead on from it. */
interface Node {
  readonly at: Path;
  /** Places of the schemas that it leads to, whatever they judge. */
  readonly next: readonly string[];
}

/**
 * Makes the check for recursive schemas by which one member of a value would be judged more than once: in two
 * branches of a `oneOf`, say. Each level of a body would multiply the time of the one above it: sixty levels never
 * end. Of each circle it tells once.
 */
export function createRecursionCheck(root: SchemaRoot): (path: Path) => Finding[] {
  const nodes = new Map<string, Node>();
  const looked = new Set<string>();
  const nodeAt = (at: Path): Node => {
    const place = formatPointer(at);
    const known = nodes.get(place);
    if (known !== undefined) return known;
    const next = isMap(valueAt(root, at)) ? [...inPlaceSchemasOf(root, at), ...childSchemasOf(root, at)] : [];
    const node = { at, next: next.map((reached) => formatPointer(reached.path)) };
    nodes.set(place, node);
    for (const reached of next) nodeAt(reached.path);
    return node;
  };
  return (path) => {
    const findings: Finding[] = [];
    for (const { key, value } of keywordsOf(valueAt(root, path), path)) {
      const target = key === '$ref' && typeof value === 'string' ? referencePath(value) : undefined;
      if (target === undefined || looked.has(formatPointer(target))) continue;
      looked.add(formatPointer(target));
      nodeAt(target);
      const circle = cycleOf(nodes, formatPointer(target));
      for (const place of circle) looked.add(place);
      const states = [...circle].map((place) => nodes.get(place)?.at ?? []);
      const twice = states.map((state) => validatedTwice(root, state, circle)).find((found) => found);
      if (twice !== undefined) findings.push(errorAt(twice, 'body-schema', MESSAGE));
    }
    return findings;
  };
}

/** The places through which one leads back to itself; empty when it does not. */
function cycleOf(nodes: ReadonlyMap<string, Node>, start: string): Set<string> {
  const callers = new Map<string, string[]>();
  const reached = new Set<string>([start]);
  for (const place of reached) {
    for (const next of nodes.get(place)?.next ?? []) {
      const known = callers.get(next);
      if (known === undefined) callers.set(next, [place]);
      else known.push(place);
      reached.add(next);
    }
  }
  const circle = new Set(callers.get(start) ?? []);
  for (const place of circle) for (const caller of callers.get(place) ?? []) circle.add(caller);
  return circle;
}

/** Where a schema judges a member for the second time by schemas of the circle. */
function validatedTwice(root: SchemaRoot, state: Path, circle: ReadonlySet<string>): Path | undefined {
  const seen: ChildSchema[] = [];
  const visit = (at: Path, open: readonly string[]): Path | undefined => {
    const place = formatPointer(at);
    if (open.includes(place)) return undefined;
    for (const descent of childSchemasOf(root, at)) {
      if (!circle.has(formatPointer(descent.path))) continue;
      if (seen.some((other) => mayOverlap(other, descent))) return descent.path;
      seen.push(descent);
    }
    for (const next of inPlaceSchemasOf(root, at)) {
      const found = visit(next.path, [...open, place]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(state, []);
}
