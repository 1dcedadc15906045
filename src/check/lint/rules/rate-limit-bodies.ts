import { parsePointer, valueAt } from '../../../engine/json-pointer.ts';
import type { Manifest } from '../../../engine/manifest/manifest.generated.ts';
import { didYouMean, suggestion } from '../../../engine/problem/did-you-mean.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { keywordsWith } from '../../../engine/schema/keywords.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { findingAt, rulesOf } from '../rule.ts';
import type { Schema } from '../schema-nodes.ts';

/** The rule for rate limits that count by a member of the body. */
export const RATE_LIMIT_BODY_RULES = rulesOf('limits', {
  'rate-limit-body-unknown': {
    level: ['warning', 'minimal'],
    rationale:
      'A key that the body schema does not describe is usually misspelled: the limit refuses every request, or counts none of them.',
    *find({ manifest, routes }) {
      const reported = new Set<string>();
      for (const { entry, path } of routes)
        for (const id of entry.rateLimits ?? [])
          for (const { pointer, at } of bodyKeysOf(manifest, id)) {
            const unknown = unknownMember(manifest, [...path, 'body', 'schema'], parsePointer(pointer));
            if (unknown === undefined || reported.has(at.join())) continue;
            reported.add(at.join());
            const message = `the body schema of "${entry.id}" does not describe "${unknown.name}"${remedyOf(unknown)}`;
            yield findingAt(at, message, { related: { path: unknown.at, message: 'the described members' } });
          }
    },
  },
});

/** Yields the pointers into the body in the key of a limit, with their paths. */
function* bodyKeysOf({ rateLimits }: Manifest, id: string): Generator<{ pointer: string; at: Path }> {
  const key = rateLimits[id]?.key ?? [];
  for (const [index, part] of [key].flat().entries())
    if (typeof part !== 'string' && part.body !== undefined)
      yield { pointer: part.body, at: ['rateLimits', id, 'key', ...(Array.isArray(key) ? [index] : []), 'body'] };
}

/** A member that a schema does not describe, and those that it does. */
interface UnknownMember {
  readonly name: string;
  readonly names: readonly string[];
  readonly at: Path;
}

function remedyOf({ name, names }: UnknownMember): string {
  return didYouMean(name, names) === undefined ? '; describe it, or correct the pointer' : suggestion(name, names);
}

/** Keywords that may describe members too. */
const OTHER_KEYWORDS = ['$ref', 'patternProperties', ...keywordsWith({ appliesTo: 'value' })];

/** Follows a pointer through `properties`. Returns `undefined` if another keyword may describe the member. */
function unknownMember(manifest: Manifest, start: Path, steps: readonly string[]): UnknownMember | undefined {
  let path = start;
  for (const name of steps) {
    path = referredPath(manifest, path);
    const schema = schemaAt(manifest, path);
    const properties = schema?.['properties'];
    if (schema === undefined || !isMap(properties)) return undefined;
    if (OTHER_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
    const names = Object.keys(properties);
    path = [...path, 'properties'];
    if (!names.includes(name)) return { name, names, at: path };
    path = [...path, name];
  }
  return undefined;
}

/** Returns the path of the schema that a schema with nothing but a reference refers to, or its own path. */
function referredPath(manifest: Manifest, path: Path): Path {
  const { $ref: reference, ...others } = schemaAt(manifest, path) ?? {};
  const isOnly = typeof reference === 'string' && Object.keys(others).length === 0;
  return isOnly && reference.startsWith('#/') ? parsePointer(reference) : path;
}

function schemaAt(manifest: Manifest, path: Path): Schema | undefined {
  const schema = valueAt(manifest, path);
  return isMap(schema) ? schema : undefined;
}
