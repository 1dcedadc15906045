import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { validatedType } from '../../engine/schema/keywords.ts';
import { inPlaceSchemasOf, isMap } from '../../engine/schema/schema-walk.ts';
import { isIgnoredHeader } from '../export/operation.ts';
import { isAnnotation } from './convert-schema.ts';
import { type ImportContext, type Operation, parameterName } from './imported-route.ts';

interface Parameter {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: Path;
}

const LOCATIONS = new Set(['path', 'query', 'header']);

/** Returns `params`, `query` and `headers` of a route. */
export function parameterRulesOf(operation: Operation, context: ImportContext): object {
  const all = readParameters(operation, context);
  const of = (location: string) => all.filter(({ value }) => value['in'] === location);
  for (const { path, name, value } of all) {
    if (value['in'] === 'cookie') context.report(path, 'looser', `the cookie ${JSON.stringify(name)} is not validated`);
    else if (!LOCATIONS.has(String(value['in'])))
      context.report(path, 'looser', `the parameter ${JSON.stringify(name)} is not validated: its location is unknown`);
  }
  const headers = of('header').filter((header) => !isIgnoredHeader(header));
  return {
    ...pathRules(of('path'), operation, context),
    ...queryRules(of('query'), operation, context),
    ...headerRules(headers, operation, context),
  };
}

/** Parameters of an operation replace those of its path with the same name and location. */
function readParameters({ value, item, origin, itemOrigin }: Operation, { document, report }: ImportContext) {
  const found = new Map<string, Parameter>();
  for (const [holder, path] of [
    [item, itemOrigin],
    [value, origin],
  ] as const) {
    const list = Array.isArray(holder['parameters']) ? (holder['parameters'] as unknown[]) : [];
    for (const [index, written] of list.entries()) {
      const place = [...path, 'parameters', index];
      const target = document.follow(written, place);
      const parameter = target?.value;
      if (target === undefined || !isMap(parameter) || typeof parameter['name'] !== 'string')
        report(place, 'looser', 'this parameter cannot be read; it is not validated');
      else {
        const { name, in: location } = parameter;
        // The names of headers are case-insensitive.
        found.set(`${location} ${location === 'header' ? name.toLowerCase() : name}`, {
          name,
          value: parameter,
          path: target.path,
        });
      }
    }
  }
  return [...found.values()];
}

function pathRules(parameters: readonly Parameter[], { origins }: Operation, context: ImportContext): object {
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

function queryRules(parameters: readonly Parameter[], { value, origins }: Operation, context: ImportContext): object {
  if (parameters.length === 0) return {};
  const properties: Record<string, unknown> = {};
  const repeated: string[] = [];
  const listed = parameters.filter((parameter) => !isSpread(parameter, context));
  for (const parameter of listed) {
    const { name, path } = parameter;
    const list = repeatedItems(parameter, context);
    if (list !== undefined || mayRepeat(parameter, context)) repeated.push(name);
    properties[name] = withEmptyValue(parameter, list?.schema ?? scalarSchema(parameter, 'form', context) ?? {});
    origins.set(`query/properties/${name}`, list?.path ?? [...path, 'schema']);
  }
  const required = listed.filter(({ value: written }) => written['required'] === true).map(({ name }) => name);
  const unknown = value['x-unknown-query'] === 'refuse' ? { unknown: 'refuse' } : {};
  // The members of a map are parameters of other names.
  const [spread] = parameters.filter((parameter) => !listed.includes(parameter));
  if (spread !== undefined && listed.some(({ name }) => !repeated.includes(name)))
    context.report(
      spread.path,
      'looser',
      `a parameter may appear twice in this query, because the members of ${JSON.stringify(spread.name)} may`,
    );
  const isRepeatable = spread !== undefined || value['x-repeated-query'] === 'allow';
  const names = isRepeatable ? unknown : { ...unknown, repeated: repeated.length > 0 ? repeated : 'refuse' };
  return { query: { properties, ...(required.length > 0 ? { required } : {}), ...names } };
}

/** True if each member of the parameter is sent under a name of its own: `filter[state]=open`, or `state=open`. */
function isSpread(parameter: Parameter, { document, report }: ImportContext): boolean {
  const { name, value, path } = parameter;
  const result =
    value['style'] === 'deepObject' || (isExploded(parameter, 'form') && mayBe('object', parameter, document));
  if (result) report(path, 'looser', `the members of the parameter ${JSON.stringify(name)} are not validated`);
  return result;
}

/** True if each item or member of the parameter has a text of its own, in this style or in every style. */
function isExploded({ value }: Parameter, style?: string): boolean {
  const { style: own = 'form', explode = own === 'form' } = value;
  return explode === true && (style === undefined || own === style);
}

/** True for a parameter whose schema is for lists, or in another file. */
function mayRepeat(parameter: Parameter, { document }: ImportContext): boolean {
  const isUnknown = document.follow(parameter.value['schema'], parameter.path) === undefined;
  return isExploded(parameter) && (isUnknown || mayBe('array', parameter, document));
}

/** `allowEmptyValue` also allows a text that the schema does not. */
function withEmptyValue({ value }: Parameter, schema: unknown): unknown {
  return value['allowEmptyValue'] === true && isRule(schema) ? { anyOf: [{ const: '' }, schema] } : schema;
}

function headerRules(parameters: readonly Parameter[], { origins }: Operation, context: ImportContext): object {
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
function scalarSchema(parameter: Parameter, style: string, { converter, document, report }: ImportContext): unknown {
  const { name, value, path } = parameter;
  const lose = (reason: string) =>
    report(path, 'looser', `the parameter ${JSON.stringify(name)} is not validated: ${reason}`);
  if (value['content'] !== undefined) lose('its value is a document of a media type');
  else if ((value['style'] ?? style) !== style)
    lose(`the gateway does not read the style ${JSON.stringify(value['style'])}`);
  else if (mayBe('array', parameter, document) || mayBe('object', parameter, document))
    lose('the gateway does not read lists and maps from one text');
  else return value['schema'] === undefined ? {} : converter.convert(value['schema'], [...path, 'schema']);
  return undefined;
}

/** Returns the schema of one item, and its path, if the parameter is a list with one query parameter for each item. */
function repeatedItems(parameter: Parameter, { converter, document, report }: ImportContext) {
  const { name, value, path } = parameter;
  const list = document.follow(value['schema'], [...path, 'schema']);
  if (list === undefined || !isExploded(parameter, 'form') || !isList(value['schema'], list.value)) return undefined;
  const { items = {} } = list.value;
  const at = [...list.path, 'items'];
  if (mayHold('array', at, document) || mayHold('object', at, document)) return undefined;
  for (const [keyword, limit] of Object.entries(list.value))
    if (!LIST_KEYWORDS.has(keyword) && !isAnnotation(keyword) && limit !== false)
      report(list.path, 'looser', `the gateway validates each ${JSON.stringify(name)}, but not ${keyword} of the list`);
  return { schema: converter.convert(items, at), path: at };
}

const LIST_KEYWORDS = new Set(['type', 'items', 'nullable']);

/** True for the schema of a list, which has no other keywords beside its reference. */
function isList(written: unknown, schema: unknown): schema is Record<string, unknown> {
  const types = isMap(schema) ? [schema['type']].flat().filter((type) => type !== 'null') : [];
  const isAlone =
    written === schema || (isMap(written) && Object.keys(written).every((key) => key === '$ref' || isAnnotation(key)));
  return isAlone && types.length === 1 && types[0] === 'array';
}

function mayBe(type: 'array' | 'object', { path }: Parameter, document: ImportContext['document']): boolean {
  return mayHold(type, [...path, 'schema'], document);
}

/** True if a schema, or one of its alternatives, is for lists or maps: by its type, or without one by its keywords. */
export function mayHold(
  type: 'array' | 'object',
  path: Path,
  document: Pick<ImportContext['document'], 'value'>,
  seen = new Set<unknown>(),
): boolean {
  const schema = valueAt(document.value, path);
  if (!isMap(schema) || seen.has(schema)) return false;
  seen.add(schema);
  const isOwn =
    schema['type'] === undefined
      ? Object.keys(schema).some((keyword) => validatedType(keyword) === type)
      : [schema['type']].flat().includes(type);
  return (
    isOwn ||
    inPlaceSchemasOf(document.value, path).some(
      ({ keyword, path: at }) => !CONDITIONS.has(keyword) && mayHold(type, at, document, seen),
    )
  );
}

const CONDITIONS = new Set(['if', 'not']);

/** False for a schema that every text matches. */
function isRule(schema: unknown): boolean {
  if (isMap(schema) && Object.keys(schema).length === 0) return false;
  return (
    !isMap(schema) ||
    Object.keys(schema).some((key) => key !== 'type' && key !== 'description') ||
    schema['type'] !== 'string'
  );
}
