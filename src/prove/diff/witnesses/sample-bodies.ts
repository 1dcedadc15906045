import { CONTENT_METHODS } from '../../../engine/http1/http-methods.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import { termOf } from '../../schema-comparison/compare-schemas.ts';
import { findValues } from '../../schema-comparison/schema-solver.ts';
import type { DiffContext, DiffRequest, MatchedRoutePair } from '../difference.ts';
import { bothReceive } from '../matched-routes.ts';

/** A Content-Type and the text of a body. */
export interface SampleBody {
  readonly type: string;
  readonly text: string;
}

const BOUNDARY = 'boundary';

/** Returns media types that a route may list: those of both routes, and common ones. */
export function sampleTypes({ from, to }: MatchedRoutePair): readonly string[] {
  const listed = [from, to].flatMap(({ entry }) => entry.body?.types ?? []);
  const all = ['application/json', ...listed, 'text/csv', 'multipart/form-data', 'application/octet-stream'];
  return all.map((type) => {
    const name = type.replace('/*', '/x');
    return name.toLowerCase() === 'multipart/form-data' ? `${name}; boundary=${BOUNDARY}` : name;
  });
}

export function acceptsType({ body }: Route, type: string): boolean {
  return body?.types?.includes(type) ?? true;
}

/** True if a route forwards this body. */
export function acceptsBody(route: Route, { type, text }: SampleBody): boolean {
  const rule = route.body;
  if (rule === undefined) return true;
  const bytes = Buffer.from(text);
  if (!acceptsType(route, type) || bytes.length > rule.limitBytes) return false;
  if (rule.validate !== undefined) {
    const result = rule.validate(bytes);
    return !(result instanceof Promise) && result.violations.length === 0;
  }
  const validator = rule.streamValidatorFor?.(type);
  return validator === undefined || (validator.write(bytes) ?? validator.end()) === undefined;
}

/** Returns a body that both routes forward; `undefined` if none was found. */
export function forwardedBody(sides: DiffContext, pair: MatchedRoutePair): SampleBody | undefined {
  for (const type of sampleTypes(pair)) {
    const isJson = /json/i.test(type);
    const texts = isJson ? jsonBodies(sides, pair).map((value) => JSON.stringify(value)) : formTexts(pair, type);
    for (const text of texts) {
      const body = { type, text };
      if ([pair.from, pair.to].every(({ route }) => acceptsBody(route, body))) return body;
    }
  }
  return undefined;
}

/** Returns the request with a method that usually has a body, if both routes receive it. */
export function withContentMethod(sides: DiffContext, pair: MatchedRoutePair, request: DiffRequest): DiffRequest {
  const path = request.url.replace(/\?.*/, '');
  const method = [...CONTENT_METHODS].find((candidate) => bothReceive(sides, pair, candidate, path));
  return method === undefined ? request : { ...request, method };
}

/** Returns values that are valid for the schemas of both routes. */
function jsonBodies({ old, next }: DiffContext, { from, to }: MatchedRoutePair): readonly unknown[] {
  const routes = [
    [old, from],
    [next, to],
  ] as const;
  const terms = routes.flatMap(([{ schemas: root }, { path, entry }]) =>
    entry.body?.schema === undefined ? [] : [termOf({ root, path: [...path, 'body', 'schema'] }, true)],
  );
  return terms.length === 0 ? [{}] : findValues(terms, 10).values;
}

function formTexts({ from, to }: MatchedRoutePair, type: string): readonly string[] {
  const bodies = [from, to].map(({ entry }) => entry.body);
  if (/csv/i.test(type))
    return bodies.flatMap((body) =>
      body?.csv === undefined ? ['x'] : [`${body.csv.header.join(body.csv.delimiter)}\r\n`],
    );
  if (!/form-data/i.test(type)) return ['x'];
  return bodies.map((body) => {
    const parts = Object.entries(body?.multipart?.parts ?? {}).map(([name, { types = [] }]) => {
      const partType = types[0] === undefined ? '' : `Content-Type: ${types[0].replace('/*', '/x')}\r\n`;
      return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n${partType}\r\n\r\n`;
    });
    return `${parts.join('')}--${BOUNDARY}--\r\n`;
  });
}
