import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { SchemaCompiler } from './json-schema.ts';
import { isJsonType, JSON_TYPES, mediaTypes } from './media-type.ts';
import type { BodyRule, MediaTypes } from './plan.ts';
import { shortPointer } from './pointer.ts';
import { parseStrictJson } from './strict-json.ts';

const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** Makes the body rule of a route, or `undefined` when it has none. */
export function compileBody(
  entry: RouteEntry,
  methods: readonly string[],
  path: Path,
  schemas: SchemaCompiler | undefined,
  findings: Finding[],
): BodyRule | undefined {
  if (entry.body === undefined) return undefined;
  if (methods.every((method) => WITHOUT_BODY.has(method))) {
    findings.push(errorAtKey([...path, 'body'], 'body', 'GET and HEAD take no body; remove "body"'));
  }
  const limitBytes = sizeBytes(entry.body.maxBytes);
  const types = compileTypes(entry.body, [...path, 'body'], findings);
  if (entry.body.schema === undefined) return { limitBytes, types, judge: undefined };
  const judge = schemas?.compile([...path, 'body', 'schema'], findings);
  if (judge === undefined) return undefined;
  return {
    limitBytes,
    types,
    judge: (body) => {
      const parsed = parseStrictJson(body);
      return 'fault' in parsed
        ? [{ ...parsed.fault, pointer: shortPointer(parsed.fault.pointer) }]
        : judge(parsed.value, body.length);
    },
  };
}

type BodyEntry = NonNullable<RouteEntry['body']>;

/** A body with a schema is JSON: its types may say which, and nothing else. */
function compileTypes({ types, schema }: BodyEntry, path: Path, findings: Finding[]): MediaTypes | undefined {
  if (types === undefined) return schema === undefined ? undefined : JSON_TYPES;
  if (schema === undefined) return mediaTypes(types, () => true);
  for (const [index, type] of types.entries()) {
    if (isJsonType(type)) continue;
    const message = `"${type}" is no JSON, and a schema judges only JSON; write application/json or a type that ends in +json`;
    findings.push(errorAt([...path, 'types', index], 'body-types', message));
  }
  return mediaTypes(types, isJsonType);
}
