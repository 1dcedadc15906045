import { BODYLESS_METHODS } from '../http-methods.ts';
import { isMap } from '../plan/schema/schema-walk.ts';
import type { Path } from '../problem/finding.ts';
import type { ImportContext, Operation } from './imported-route.ts';

const JSON_TYPE = /^application\/(?:.+\+)?json$/i;
const FORM_TYPE = 'multipart/form-data';

/** Returns `body` of a route. */
export function requestBodyOf(operation: Operation, context: ImportContext, origins: Map<string, Path>): object {
  const { method, value, origin } = operation;
  const { document, report } = context;
  const written = value['requestBody'];
  if (written === undefined) return {};
  const place = [...origin, 'requestBody'];
  if (BODYLESS_METHODS.has(method)) {
    report(place, 'none', `the gateway does not validate a body of ${method}`);
    return {};
  }
  const reference = isMap(written) ? written['$ref'] : undefined;
  const target = typeof reference === 'string' ? document.resolve(reference) : { value: written, path: place };
  const body = target?.value;
  const content = isMap(body) && isMap(body['content']) ? body['content'] : undefined;
  if (target === undefined || content === undefined) {
    report(place, 'looser', 'this body cannot be read; it is not validated');
    return {};
  }
  const types = Object.keys(content).map((type) => [type, type.split(';')[0]?.trim().toLowerCase() ?? ''] as const);
  const rules = bodyRules(types, content, [...target.path, 'content'], context, origins);
  const validates = 'schema' in rules || 'multipart' in rules;
  if (validates && isMap(body) && body['required'] !== true)
    report(target.path, 'stricter', 'the body is optional in the document, and the gateway requires one');
  return Object.keys(rules).length === 0 ? {} : { body: rules };
}

type MediaTypes = readonly (readonly [written: string, type: string])[];

function bodyRules(
  types: MediaTypes,
  content: Readonly<Record<string, unknown>>,
  path: Path,
  context: ImportContext,
  origins: Map<string, Path>,
): Readonly<Record<string, unknown>> {
  const { converter, report } = context;
  const [json, ...more] = types.filter(([, type]) => JSON_TYPE.test(type));
  const [form] = types.filter(([, type]) => type === FORM_TYPE);
  const schemaOf = ([written]: MediaTypes[number]) =>
    isMap(content[written]) ? content[written]['schema'] : undefined;
  const validated = json ?? form;
  if (validated === undefined || schemaOf(validated) === undefined) return typesOf(types, path, report);
  for (const other of types)
    if (other !== validated && !more.includes(other))
      report([...path, other[0]], 'stricter', `the gateway accepts ${validated[1]} only, because it validates it`);
  for (const other of more)
    if (JSON.stringify(schemaOf(other)) !== JSON.stringify(schemaOf(validated)))
      report([...path, other[0]], 'stricter', `the gateway validates this body by the schema of ${validated[1]}`);
  const at = [...path, validated[0], 'schema'];
  if (validated === form) return formRules(schemaOf(form), content[form[0]], at, context);
  origins.set('body/schema', at);
  const jsonTypes = [json, ...more].flatMap((one) => (one === undefined ? [] : [one[1]]));
  const isDefault = jsonTypes.length === 1 && jsonTypes[0] === 'application/json';
  return { ...(isDefault ? {} : { types: jsonTypes }), schema: converter.convert(schemaOf(validated), at) };
}

/** The media types alone: the gateway does not validate such a body. */
function typesOf(types: MediaTypes, path: Path, report: ImportContext['report']): Readonly<Record<string, unknown>> {
  if (types.some(([, type]) => type === '*/*' || type === '')) return {};
  for (const [written] of types)
    report([...path, written], 'looser', 'the gateway checks only the media type of this body');
  return types.length === 0 ? {} : { types: types.map(([, type]) => type) };
}

const MAX_PARTS = 100;

/** Returns the parts of a form. The gateway checks their types, sizes and numbers, but not their values. */
function formRules(written: unknown, media: unknown, path: Path, { document, report }: ImportContext) {
  const reference = isMap(written) ? written['$ref'] : undefined;
  const schema = typeof reference === 'string' ? document.resolve(reference)?.value : written;
  const properties = isMap(schema) && isMap(schema['properties']) ? schema['properties'] : {};
  if (Object.keys(properties).length === 0) {
    report(path, 'looser', 'the gateway checks only the media type of this form');
    return { types: [FORM_TYPE] };
  }
  if (isMap(schema) && schema['additionalProperties'] !== false)
    report(path, 'stricter', 'the gateway refuses parts that the document does not list');
  report(path, 'looser', 'the gateway does not validate the values of the parts');
  const required = isMap(schema) && Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const encoding = isMap(media) && isMap(media['encoding']) ? media['encoding'] : {};
  const parts = Object.entries(properties).map(([name, property]) => {
    const isList = isMap(property) && property['type'] === 'array';
    const limit = isList && typeof property['maxItems'] === 'number' ? property['maxItems'] : MAX_PARTS;
    const { contentType } = isMap(encoding[name]) ? encoding[name] : {};
    const types =
      typeof contentType === 'string' ? contentType.split(',').map((type) => type.trim().toLowerCase()) : [];
    return [
      name,
      {
        ...(types.length > 0 && !types.includes('*/*') ? { types } : {}),
        ...(isList ? { maxCount: Math.max(1, limit) } : {}),
        ...(required.includes(name) ? { required: true } : {}),
      },
    ];
  });
  return { multipart: { parts: Object.fromEntries(parts) } };
}
