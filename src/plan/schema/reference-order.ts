import { formatPointer } from '../../json-pointer.ts';
import type { Path } from '../../problem/finding.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { keywordsOf, referencePath, valueAt } from './schema-walk.ts';

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

/** Returns the paths that the references in a schema lead to. */
export function targetsOf(root: SchemaRoot, path: Path): Path[] {
  const targets: Path[] = [];
  for (const { key, value } of keywordsOf(valueAt(root, path), path)) {
    const target = key === '$ref' && typeof value === 'string' ? referencePath(value) : undefined;
    if (target !== undefined) targets.push(target);
  }
  return targets;
}
