import { isMap } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
import { type ImportContext, type Operation, parameterName } from './imported-route.ts';

interface Parameter {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: Path;
}

/** Headers that OpenAPI describes elsewhere (OpenAPI 3.1 section 4.8.12.2). */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

/** Returns `params`, `query` and `headers` of a route. */
export function parametersOf(operation: Operation, context: ImportContext, origins: Map<string, Path>): object {
  const all = readParameters(operation, context);
  const of = (location: string) => all.filter(({ value }) => value['in'] === location);
  for (const { path, name } of of('cookie'))
    context.report(path, 'looser', `the cookie ${JSON.stringify(name)} is not validated`);
  const headers = of('header').filter(({ name }) => !IGNORED_HEADERS.has(name.toLowerCase()));
  return {
    ...pathRules(of('path'), context, origins),
    ...queryRules(of('query'), operation, context, origins),
    ...headerRules(headers, context, origins),
  };
}

/** Parameters of an operation replace those of its path with the same name and location. */
function readParameters(
  { value, item, origin, itemOrigin }: Operation,
  { document, report }: ImportContext,
): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const [holder, path] of [
    [item, itemOrigin],
    [value, origin],
  ] as const) {
    const list = Array.isArray(holder['parameters']) ? (holder['parameters'] as unknown[]) : [];
    for (const [index, written] of list.entries()) {
      const place = [...path, 'parameters', index];
      const reference = isMap(written) ? written['$ref'] : undefined;
      const target = typeof reference === 'string' ? document.resolve(reference) : { value: written, path: place };
      const parameter = target?.value;
      if (target === undefined || !isMap(parameter) || typeof parameter['name'] !== 'string')
        report(place, 'looser', 'this parameter cannot be read; it is not validated');
      else {
        const { name } = parameter;
        found.set(`${parameter['in']} ${name}`, { name, value: parameter, path: target.path });
      }
    }
  }
  return [...found.values()];
}

function pathRules(parameters: readonly Parameter[], context: ImportContext, origins: Map<string, Path>): object {
  const properties: Record<string, unknown> = {};
  for (const parameter of parameters) {
    const schema = scalarSchema(parameter, 'simple', context);
    const name = parameterName(parameter.name);
    if (schema === undefined || !isRule(schema)) continue;
    properties[name] = schema;
    origins.set(`params/properties/${name}`, [...parameter.path, 'schema']);
  }
  return Object.keys(properties).length === 0 ? {} : { params: { properties } };
}

function queryRules(
  parameters: readonly Parameter[],
  { value }: Operation,
  context: ImportContext,
  origins: Map<string, Path>,
): object {
  if (parameters.length === 0) return {};
  const properties: Record<string, unknown> = {};
  const repeated: string[] = [];
  const listed = parameters.filter((parameter) => !isSpread(parameter, context));
  for (const parameter of listed) {
    const { name, path } = parameter;
    const list = repeatedItems(parameter, context);
    if (list !== undefined) repeated.push(name);
    properties[name] = list ?? scalarSchema(parameter, 'form', context) ?? {};
    origins.set(`query/properties/${name}`, list === undefined ? [...path, 'schema'] : [...path, 'schema', 'items']);
  }
  const required = listed.filter(({ value: written }) => written['required'] === true).map(({ name }) => name);
  const unknown = value['x-unknown-query'] === 'refuse' ? { unknown: 'refuse' } : {};
  // The members of a map are parameters of other names.
  const mayRepeat = listed.length < parameters.length || value['x-repeated-query'] === 'allow';
  const names = mayRepeat ? unknown : { ...unknown, repeated: repeated.length > 0 ? repeated : 'refuse' };
  return { query: { properties, ...(required.length > 0 ? { required } : {}), ...names } };
}

/** True if each member of the parameter is sent under a name of its own: `filter[state]=open`, or `state=open`. */
function isSpread({ name, value, path }: Parameter, { document, report }: ImportContext): boolean {
  const { style = 'form', explode } = value;
  const schema = resolveSchema(value['schema'], document);
  const isMapped = isMap(schema) && (schema['type'] === 'object' || schema['properties'] !== undefined);
  const result = style === 'deepObject' || (style === 'form' && explode !== false && isMapped);
  if (result) report(path, 'looser', `the members of the parameter ${JSON.stringify(name)} are not validated`);
  return result;
}

function headerRules(parameters: readonly Parameter[], context: ImportContext, origins: Map<string, Path>): object {
  if (parameters.length === 0) return {};
  const properties: Record<string, unknown> = {};
  for (const parameter of parameters) {
    properties[parameter.name] = scalarSchema(parameter, 'simple', context) ?? {};
    origins.set(`headers/properties/${parameter.name}`, [...parameter.path, 'schema']);
  }
  const required = parameters.filter(({ value }) => value['required'] === true).map(({ name }) => name);
  return { headers: { properties, ...(required.length > 0 ? { required } : {}) } };
}

/** Returns the schema of one value. Reports a parameter whose text has a form that the gateway does not read. */
function scalarSchema(
  { name, value, path }: Parameter,
  style: string,
  { converter, document, report }: ImportContext,
): unknown {
  const lose = (reason: string) =>
    report(path, 'looser', `the parameter ${JSON.stringify(name)} is not validated: ${reason}`);
  if (value['content'] !== undefined) lose('its value is a document of a media type');
  else if ((value['style'] ?? style) !== style)
    lose(`the gateway does not read the style ${JSON.stringify(value['style'])}`);
  else if (isContainer(value['schema'], document)) lose('the gateway does not read lists and maps from one text');
  else return value['schema'] === undefined ? {} : converter.convert(value['schema'], [...path, 'schema']);
  return undefined;
}

/** Returns the schema of one item, if the parameter is a list with one query parameter for each item. */
function repeatedItems({ name, value, path }: Parameter, { converter, document, report }: ImportContext): unknown {
  const schema = resolveSchema(value['schema'], document);
  const isForm = (value['style'] ?? 'form') === 'form' && value['explode'] !== false;
  if (!isForm || !isMap(schema) || schema['type'] !== 'array' || isContainer(schema['items'], document))
    return undefined;
  for (const keyword of ['minItems', 'maxItems', 'uniqueItems', 'contains', 'prefixItems'])
    if (schema[keyword] !== undefined && schema[keyword] !== false)
      report(
        [...path, 'schema'],
        'looser',
        `the gateway validates each ${JSON.stringify(name)}, but not ${keyword} of the list`,
      );
  return converter.convert(schema['items'] ?? {}, [...path, 'schema', 'items']);
}

function isContainer(schema: unknown, document: ImportContext['document']): boolean {
  const resolved = resolveSchema(schema, document);
  const types = isMap(resolved) ? [resolved['type']].flat() : [];
  const hasMembers = isMap(resolved) && (resolved['properties'] !== undefined || resolved['items'] !== undefined);
  return hasMembers || types.includes('array') || types.includes('object');
}

function resolveSchema(schema: unknown, { resolve }: ImportContext['document'], depth = 0): unknown {
  const reference = isMap(schema) ? schema['$ref'] : undefined;
  if (typeof reference !== 'string' || depth > MAX_REFERENCES) return schema;
  return resolveSchema(resolve(reference)?.value, { resolve } as ImportContext['document'], depth + 1);
}

const MAX_REFERENCES = 32;

/** False for a schema that every text matches. */
function isRule(schema: unknown): boolean {
  if (isMap(schema) && Object.keys(schema).length === 0) return false;
  return (
    !isMap(schema) ||
    Object.keys(schema).some((key) => key !== 'type' && key !== 'description') ||
    schema['type'] !== 'string'
  );
}
