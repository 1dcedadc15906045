import { formatPointer } from '../../json-pointer.ts';
import type { Finding, Path } from '../../problem/finding.ts';
import { circularReferenceFindings } from './circular-references.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import { referencedPaths } from './reference-order.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { schemaFindings } from './schema-findings.ts';
import { isSchema, valueAt } from './schema-walk.ts';

/**
 * Creates the check of the schemas of a root. It returns the mistakes of the schema at a path, without those of schemas
 * that it refers to; these have paths of their own.
 *
 * @param fileTargets the schemas in files that references lead to
 */
export function createSchemaCheck(
  root: SchemaRoot,
  fileTargets: readonly Path[],
): (path: Path) => readonly Finding[] | 'invalid elsewhere' {
  const findingsByPointer = new Map<string, readonly Finding[]>();
  const valid = new Set<string>();
  let circular: readonly Finding[] | undefined;
  const findingsAt = (path: Path): readonly Finding[] => {
    const pointer = formatPointer(path);
    const known = findingsByPointer.get(pointer);
    if (known !== undefined) return known;
    circular ??= circularReferenceFindings(root, [
      ...Object.keys(root.schemas).map((name) => ['schemas', name]),
      ...fileTargets,
    ]);
    const findings = [
      ...schemaFindings(root, path),
      ...ignoredKeywordFindings(root, path),
      ...circular.filter(({ location }) => 'path' in location && isWithin(location.path, path)),
    ];
    findingsByPointer.set(pointer, findings);
    return findings;
  };
  // The check of the manifest, or of its files, has reported a value that is no schema.
  const isInvalid = (path: Path) => !isSchema(valueAt(root, path)) || findingsAt(path).length > 0;
  return (path) => {
    if (!isSchema(valueAt(root, path))) return 'invalid elsewhere';
    const findings = findingsAt(path);
    if (findings.length > 0) return findings;
    const targets = referencedPaths(root, path, valid);
    if (targets.some((target) => isInvalid(sharedPathOf(target)))) return 'invalid elsewhere';
    for (const target of targets) valid.add(formatPointer(target));
    return [];
  };
}

/** Returns the path of the complete schema of the manifest that contains a target; a target in a file stands for itself. */
function sharedPathOf(target: Path): Path {
  return target[0] === 'schemas' ? target.slice(0, 2) : target;
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((step, index) => step === path[index]);
}
