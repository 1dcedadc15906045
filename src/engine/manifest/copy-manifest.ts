import type { YamlValue } from './yaml-values.ts';

/** Steps to the JSON Schemas of a manifest; `*` stands for each item of a list. */
interface SchemaPlaces {
  readonly [step: string]: SchemaPlaces | 'schemas';
}

const PARAMETERS = { properties: 'schemas' } as const;
const ROUTE = { body: { schema: 'schemas' }, params: PARAMETERS, query: PARAMETERS, headers: PARAMETERS } as const;
const MANIFEST: SchemaPlaces = { schemas: 'schemas', routes: { '*': ROUTE } };

/**
 * Returns a copy of the values of a manifest for the validator, which writes defaults into it. It writes none into JSON
 * Schemas, which are most of a large manifest, so the copy shares them.
 */
export function copyManifest(value: YamlValue): YamlValue {
  return copyExcept(value, MANIFEST);
}

function copyExcept(value: YamlValue, places: SchemaPlaces | 'schemas' | undefined): YamlValue {
  if (value === null || typeof value !== 'object' || places === 'schemas') return value;
  if (Array.isArray(value)) return value.map((item: YamlValue) => copyExcept(item, places?.['*']));
  const copy: Record<string, YamlValue> = {};
  for (const [key, member] of Object.entries(value)) {
    const inside = places !== undefined && Object.hasOwn(places, key) ? places[key] : undefined;
    // An assignment to this name would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: copyExcept(member, inside), ...DATA_PROPERTY });
    else copy[key] = copyExcept(member, inside);
  }
  return copy;
}

const DATA_PROPERTY = { configurable: true, enumerable: true, writable: true };
