import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import { isMap, referencePath } from '../../engine/schema/schema-walk.ts';

type Members = Record<string, unknown>;

/**
 * Moves the body parameters of paths and components of a document of version 2.0 to its operations, because the upgrade loses some of
 * them. Removes the extensions of paths, which the upgrade takes for operations.
 *
 * @param document changed in place
 */
export function inlineBodyParameters(document: Members): void {
  for (const parameter of membersOf(document['parameters'])) setListStyle(parameter);
  for (const item of membersOf(document['paths'])) {
    for (const key of Object.keys(item)) if (key.startsWith('x-')) delete item[key];
    const shared = readParameters(item, document);
    const bodies = shared.filter(isBody);
    if (bodies.length > 0) item['parameters'] = shared.filter((parameter) => !isBody(parameter));
    for (const method of HTTP_METHODS) {
      const operation = item[method.toLowerCase()];
      if (!isMap(operation)) continue;
      const own = readParameters(operation, document);
      const inherited = bodies.filter((body) => !own.some((other) => replaces(other, body)));
      if (own.length + inherited.length > 0) operation['parameters'] = [...own, ...structuredClone(inherited)];
    }
  }
}

function membersOf(map: unknown): Members[] {
  return isMap(map) ? Object.values(map).filter(isMap) : [];
}

/** Returns the parameters of a path or of an operation, with the body parameters in place of references to them. */
function readParameters(holder: Members, document: Members): unknown[] {
  const list = Array.isArray(holder['parameters']) ? (holder['parameters'] as unknown[]) : [];
  return list.map((written) => {
    const reference = isMap(written) ? written['$ref'] : undefined;
    const target = valueAt(document, (typeof reference === 'string' && referencePath(reference)) || []);
    if (isMap(written)) setListStyle(written);
    return isBody(target) ? structuredClone(target) : written;
  });
}

function isBody(parameter: unknown): parameter is Members {
  return isMap(parameter) && (parameter['in'] === 'body' || parameter['in'] === 'formData');
}

function replaces(other: unknown, body: Members): boolean {
  return isBody(other) && (other['in'] === 'body' || body['in'] === 'body' || other['name'] === body['name']);
}

const LIST_STYLES = new Set([undefined, 'csv', 'ssv', 'pipes', 'multi']);

/** The upgrade takes a list in another style for one with a parameter for each item. */
function setListStyle(parameter: Members): void {
  if (!LIST_STYLES.has(parameter['collectionFormat'] as string)) parameter['collectionFormat'] = 'csv';
}
