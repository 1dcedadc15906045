import { formatPointer, valueAt } from '../json-pointer.ts';
import type { Finding, Path } from '../problem/finding.ts';
import { circularReferenceFindings } from './circular-references.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { schemaFindings } from './schema-findings.ts';
import { isSchema, type LocatedSchema, schemasWithin, targetsIn } from './schema-walk.ts';

/** The mistakes of a schema itself, and whether it may be compiled. */
interface CheckedSchema {
  readonly findings: readonly Finding[];
  /** False if it has a mistake, or refers to a schema that has one. */
  readonly isValid: boolean;
}

/** @param schemas the schema at the path and its subschemas */
type SchemaCheck = (path: Path, schemas: readonly LocatedSchema[]) => CheckedSchema;

/**
 * Creates the check of the schemas of a root. Mistakes in shared schemas are found at these schemas alone, not at those
 * that refer to them.
 *
 * @param fileTargets the schemas in files that references lead to
 */
export function createSchemaCheck(root: SchemaRoot, fileTargets: readonly Path[]): SchemaCheck {
  let shared: SharedSchemas | undefined;
  return (path, schemas) => {
    shared ??= checkShared(root, [...Object.keys(root.schemas).map((name) => ['schemas', name]), ...fileTargets]);
    const { findings, invalid } = shared;
    // A reference to a file without that schema has been reported, and leads to none of the shared schemas.
    const isShared = (target: string) => findings.has(target);
    const pointer = formatPointer(path);
    const own = findings.get(pointer) ?? findingsIn(root, schemas);
    const targets = sharedTargets(schemas);
    const isValid =
      own.length === 0 && !invalid.has(pointer) && targets.every((target) => isShared(target) && !invalid.has(target));
    return { findings: own, isValid };
  };
}

/** The findings in shared schemas by pointer, and the pointers of those that cannot be compiled. */
interface SharedSchemas {
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
  readonly invalid: ReadonlySet<string>;
}

function checkShared(root: SchemaRoot, paths: readonly Path[]): SharedSchemas {
  const circular = circularReferenceFindings(root, paths);
  const findings = new Map<string, readonly Finding[]>();
  const callers = new Map<string, string[]>();
  const invalid = new Set<string>();
  const known = new Set(paths.map(formatPointer));
  for (const path of paths) {
    const pointer = formatPointer(path);
    const schemas = schemasWithin(valueAt(root, path), path);
    const own = [...findingsIn(root, schemas), ...circular.filter(({ location }) => isWithin(location, path))];
    findings.set(pointer, own);
    // The check of the manifest, or of its files, has reported a value that is no schema.
    if (own.length > 0 || !isSchema(valueAt(root, path))) invalid.add(pointer);
    const targets = sharedTargets(schemas);
    if (targets.some((target) => !known.has(target))) invalid.add(pointer);
    for (const target of targets) callers.set(target, [...(callers.get(target) ?? []), pointer]);
  }
  // Entries that are added during the loop are visited too.
  for (const pointer of invalid) for (const caller of callers.get(pointer) ?? []) invalid.add(caller);
  return { findings, invalid };
}

function findingsIn(root: SchemaRoot, schemas: readonly LocatedSchema[]): readonly Finding[] {
  return [...schemaFindings(root, schemas), ...ignoredKeywordFindings(schemas)];
}

/** Returns the pointers of the shared schemas that schemas refer to. A target in a file stands for itself. */
function sharedTargets(schemas: readonly LocatedSchema[]): string[] {
  return targetsIn(schemas).map((target) => formatPointer(target[0] === 'schemas' ? target.slice(0, 2) : target));
}

function isWithin(location: Finding['location'], outer: Path): boolean {
  return 'path' in location && outer.every((step, index) => step === location.path[index]);
}
