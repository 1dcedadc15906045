import { formatPointer, valueAt } from '../json-pointer.ts';
import type { Path } from '../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { schemasWithin, targetsIn } from './schema-walk.ts';

/**
 * Returns the paths of all schemas that a schema refers to, directly or through others. A schema follows those that it
 * refers to, except in a recursion. The search uses no recursion, because references may form long chains.
 */
export function referencedPaths(root: SchemaRoot, start: Path): Path[] {
  const ordered: Path[] = [];
  const seen = new Set<string>();
  const open = [{ path: start, targets: targetsOf(root, start) }];
  for (let visit = open.at(-1); visit !== undefined; visit = open.at(-1)) {
    const target = visit.targets.pop();
    if (target === undefined) {
      open.pop();
      if (open.length > 0) ordered.push(visit.path);
      continue;
    }
    const pointer = formatPointer(target);
    if (seen.has(pointer)) continue;
    seen.add(pointer);
    open.push({ path: target, targets: targetsOf(root, target) });
  }
  return ordered;
}

function targetsOf(root: SchemaRoot, path: Path): Path[] {
  return targetsIn(schemasWithin(valueAt(root, path), path));
}
