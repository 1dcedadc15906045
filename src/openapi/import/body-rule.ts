import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import { SIZES } from '../../engine/manifest/units.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { readOnlyNames } from './convert-schema.ts';
import type { ImportContext, Operation } from './imported-route.ts';
import { mayHold } from './parameter-rules.ts';

const JSON_TYPE = /^application\/(?:.+\+)?json$/i;
const UTF_8 = /^[^;]*;\s*charset=(?:utf-8|"utf-8")\s*$/i;
const FORM_TYPE = 'multipart/form-data';

export function bodyRuleOf(operation: Operation, context: ImportContext): object {
  const { method, value, origin } = operation;
  const { document, report } = context;
  const written = value['requestBody'];
  if (written === undefined) return {};
  const place = [...origin, 'requestBody'];
  if (BODYLESS_METHODS.has(method)) {
    // OpenAPI 3.0 ignores such a body, and 3.1 does not.
    report(place, document.hasOldSchemas ? 'none' : 'looser', `the gateway does not validate a body of ${method}`);
    return {};
  }
  const target = document.follow(written, place);
  const body = target?.value;
  const content = isMap(body) && isMap(body['content']) ? body['content'] : {};
  if (target === undefined || Object.keys(content).length === 0) {
    report(place, 'looser', 'this body cannot be read; it is not validated');
    return {};
  }
  const types = Object.keys(content).map((type) => [type, withoutParameters(type)] as const);
  const rules = bodyRules(types, content, [...target.path, 'content'], context, operation);
  const validates = 'schema' in rules || 'multipart' in rules;
  const isRequired = isMap(body) && body['required'] === true;
  if (validates && !isRequired)
    report(target.path, 'stricter', 'the body is optional in the document, and the gateway requires one');
  if (Object.keys(rules).length === 0 && isRequired)
    report(
      target.path,
      'looser',
      'the body is required in the document, and the gateway also accepts requests without one',
    );
  const limit = isMap(body) ? ownLimit(body) : {};
  return Object.keys({ ...limit, ...rules }).length === 0 ? {} : { body: { ...limit, ...rules } };
}

type MediaTypes = readonly (readonly [written: string, type: string])[];
type SchemaOf = (type: MediaTypes[number]) => unknown;
type BodyRules = Readonly<Record<string, unknown>>;

function bodyRules(
  types: MediaTypes,
  content: Readonly<Record<string, unknown>>,
  path: Path,
  context: ImportContext,
  { origins }: Operation,
): BodyRules {
  const { converter, report } = context;
  // Since version 3.2, a media type may be a reference.
  const mediaOf = ([written]: MediaTypes[number]) => context.document.follow(content[written], [...path, written]);
  const schemaOf: SchemaOf = (type) => valueAt(mediaOf(type)?.value, ['schema']);
  for (const type of types)
    for (const key of NOT_READ)
      if (valueAt(mediaOf(type)?.value, [key]) !== undefined)
        report([...path, type[0]], 'looser', `"${key}" of a body is not read; the gateway does not validate its items`);
  const [json, ...others] = types.filter(([, type]) => JSON_TYPE.test(type));
  const more = others.filter((one) => json && JSON.stringify(schemaOf(one)) === JSON.stringify(schemaOf(json)));
  const [form] = types.filter(([, type]) => type === FORM_TYPE);
  const validated = json ?? form;
  if (validated === undefined || schemaOf(validated) === undefined) return typesOf(types, path, report, schemaOf);
  for (const other of types)
    if (other !== validated && !more.includes(other))
      report([...path, other[0]], 'stricter', `the gateway accepts ${validated[1]} only, because it validates it`);
  const media = mediaOf(validated);
  const at = [...(media?.path ?? path), 'schema'];
  if (validated === form) return formRules(schemaOf(form), media?.value, at, context);
  origins.set('body/schema', at);
  const accepted = [json, ...more].flatMap((one) => (one === undefined ? [] : [one]));
  for (const [type] of accepted)
    if (type.includes(';') && !UTF_8.test(type))
      report(
        [...path, type],
        'stricter',
        'the gateway accepts no parameter of a JSON media type, except charset=utf-8',
      );
  const jsonTypes = [...new Set(accepted.map(([, type]) => type))];
  // By default, the gateway accepts every JSON type.
  const isDefault = others.length === 0 && jsonTypes[0] === 'application/json';
  return { ...(isDefault ? {} : { types: jsonTypes }), schema: converter.convert(schemaOf(validated), at) };
}

/** Members of a media type of version 3.2 about the items of a body. */
const NOT_READ = ['itemSchema', 'itemEncoding', 'prefixEncoding'];

/** The media types alone: the gateway does not validate such a body. */
function typesOf(types: MediaTypes, path: Path, report: ImportContext['report'], schemaOf: SchemaOf): BodyRules {
  const isAny = types.some(([, type]) => type === '*/*' || type === '');
  for (const one of types)
    if (!isAny) report([...path, one[0]], 'looser', 'the gateway checks only the media type of this body');
    else if (schemaOf(one) !== undefined)
      report([...path, one[0]], 'looser', 'the gateway does not validate a body of any media type');
  return isAny ? {} : { types: types.map(([, type]) => type) };
}

const MAX_PARTS = 100;

/** Returns the parts of a form. The gateway checks their types, sizes and numbers, but not their values. */
function formRules(written: unknown, media: unknown, path: Path, { document, report }: ImportContext): BodyRules {
  const target = document.follow(written, path);
  const schema = isMap(target?.value) ? target.value : {};
  const properties = isMap(schema['properties']) ? schema['properties'] : {};
  if (target === undefined || Object.keys(properties).length === 0) {
    report(path, 'looser', 'the gateway checks only the media type of this form');
    return { types: [FORM_TYPE] };
  }
  if (schema['additionalProperties'] !== false)
    report(path, 'stricter', 'the gateway refuses parts that the document does not list');
  report(path, 'looser', 'the gateway does not validate the values of the parts');
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const optional = readOnlyNames(schema, document);
  const encoding = isMap(media) && isMap(media['encoding']) ? media['encoding'] : {};
  const parts = Object.keys(properties).map((name) => {
    const at = [...target.path, 'properties', name];
    const isList = mayHold('array', at, document);
    const list = document.follow(properties[name], at)?.value;
    const limit = isMap(list) && typeof list['maxItems'] === 'number' ? list['maxItems'] : undefined;
    if (isList && limit === undefined)
      report(at, 'stricter', `the gateway accepts at most ${MAX_PARTS} parts ${JSON.stringify(name)}`);
    const { contentType } = isMap(encoding[name]) ? encoding[name] : {};
    const types = typeof contentType === 'string' ? contentType.split(',').map(withoutParameters) : [];
    return [
      name,
      {
        ...(types.length > 0 && !types.includes('*/*') ? { types: [...new Set(types)] } : {}),
        ...(isList ? { maxCount: Math.max(1, limit ?? MAX_PARTS) } : {}),
        ...(required.includes(name) && !optional.includes(name) ? { required: true } : {}),
      },
    ];
  });
  return { multipart: { parts: Object.fromEntries(parts) } };
}

function withoutParameters(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

/** Returns `maxBytes` of a body. */
function ownLimit(body: Readonly<Record<string, unknown>>): object {
  const bytes = body['x-limit-bytes'];
  if (!Number.isSafeInteger(bytes)) return {};
  const [unit, size] = Object.entries(SIZES).findLast(([, one]) => Number(bytes) % one === 0) ?? ['B', 1];
  return { maxBytes: `${Number(bytes) / size}${unit}` };
}
