import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { SchemaCompiler } from './json-schema.ts';
import type { BodyRule } from './plan.ts';
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
  if (entry.body.schema === undefined) return { limitBytes, judge: undefined };
  const judge = schemas?.compile([...path, 'body', 'schema'], findings);
  if (judge === undefined) return undefined;
  return {
    limitBytes,
    judge: (body) => {
      const parsed = parseStrictJson(body);
      return 'fault' in parsed ? [parsed.fault] : judge(parsed.value, body.length);
    },
  };
}
