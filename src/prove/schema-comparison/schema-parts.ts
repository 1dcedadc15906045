import { validatedType } from '../../engine/schema/keywords.ts';
import { isMap, type SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { itemSchema, memberSchemas } from './evaluate-schema.ts';
import { type JsonType, toList, toMap } from './json-value.ts';
import { matchesPattern } from './pattern-automaton.ts';
import {
  inPlaceParts,
  literalPart,
  literalsOnly,
  type SchemaAlternative,
  type SchemaLiteral,
  type SchemaPart,
  type SchemaTerm,
  termMaker,
} from './schema-terms.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords of texts and numbers that one literal describes. */
const SCALAR_KEYWORDS: Readonly<Partial<Record<JsonType, readonly string[]>>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMaxBytes'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'],
};

/** Returns the alternatives of a term for values of a type, as a list of choices of which each must be made. */
export function choicesOf({ root, schema, isPositive }: SchemaTerm, type: JsonType): (readonly SchemaAlternative[])[] {
  if (!isMap(schema)) return (schema !== false) === isPositive ? [] : [[]];
  const parts = partsOf(root, schema, type);
  return isPositive ? parts.map(({ met }) => met) : [parts.flatMap(({ violated }) => violated)];
}

/** Returns the parts of a schema that concern values of a type. */
function partsOf(root: SchemaRoot, schema: Schema, type: JsonType): SchemaPart[] {
  const parts = [...typeParts(schema, type), ...inPlaceParts(root, schema)];
  for (const keyword of SCALAR_KEYWORDS[type] ?? [])
    if (keyword in schema && (validatedType(keyword) ?? type) === type)
      parts.push(keywordPart(keyword, schema[keyword]));
  if (type === 'object') parts.push(...objectParts(root, schema));
  if (type === 'array') parts.push(...arrayParts(root, schema));
  return parts;
}

const IMPOSSIBLE: SchemaPart = { met: [], violated: [literalsOnly()] };

function typeParts(schema: Schema, type: JsonType): SchemaPart[] {
  const parts: SchemaPart[] = [];
  if ('const' in schema) parts.push(keywordPart('enum', [schema['const']]));
  if (Array.isArray(schema['enum'])) parts.push(keywordPart('enum', schema['enum']));
  if (!('type' in schema)) return parts;
  const types = [schema['type']].flat();
  if (types.includes(type)) return parts;
  if (type === 'number' && types.includes('integer')) return [...parts, keywordPart('integer', true)];
  return [IMPOSSIBLE];
}

function objectParts(root: SchemaRoot, schema: Schema): SchemaPart[] {
  const { required, dependentRequired, dependentSchemas, propertyNames, minProperties, maxProperties } = schema;
  const [meet, violate] = [termMaker(root, true), termMaker(root, false)];
  const parts: SchemaPart[] = [];
  for (const name of toList(required).map(String)) parts.push(literalPart(present(name), absent(name)));
  for (const [name, needed] of Object.entries(toMap(dependentRequired))) {
    const names = toList(needed).map(String);
    parts.push({
      met: [literalsOnly(absent(name)), literalsOnly(present(name), ...names.map(present))],
      violated: names.map((other) => literalsOnly(present(name), absent(other))),
    });
  }
  for (const [name, inside] of Object.entries(toMap(dependentSchemas)))
    parts.push({
      met: [literalsOnly(absent(name)), { literals: [present(name)], terms: [meet(inside)] }],
      violated: [{ literals: [present(name)], terms: [violate(inside)] }],
    });
  if ('propertyNames' in schema)
    parts.push(
      literalPart({ kind: 'names', term: meet(propertyNames) }, { ...ANY_MEMBER, nameTerms: [violate(propertyNames)] }),
    );
  if (typeof minProperties === 'number') parts.push(atLeast(minProperties, count));
  if (typeof maxProperties === 'number') parts.push(atMost(maxProperties, count));
  parts.push(...memberParts(root, schema));
  if ('unevaluatedProperties' in schema)
    parts.push({
      met: [literalsOnly()],
      violated: [literalsOnly({ ...ANY_MEMBER, terms: [violate(schema['unevaluatedProperties'])] })],
    });
  return parts;
}

const ANY_MEMBER = { kind: 'some-member', selects: () => true, nameTerms: [], terms: [] } as const;

function memberParts(root: SchemaRoot, schema: Schema): SchemaPart[] {
  const { properties, patternProperties, additionalProperties } = schema;
  if ((properties ?? patternProperties ?? additionalProperties) === undefined) return [];
  const violate = termMaker(root, false);
  const violated = Object.entries(toMap(properties)).map(([name, inside]) =>
    literalsOnly({ kind: 'present', name, terms: [violate(inside)] }),
  );
  for (const [pattern, inside] of Object.entries(toMap(patternProperties))) {
    const selects = (name: string) => matchesPattern(pattern, name);
    violated.push(literalsOnly({ ...ANY_MEMBER, pattern, selects, terms: [violate(inside)] }));
  }
  if ('additionalProperties' in schema) {
    const { additionalProperties: _rest, ...listed } = schema;
    const selects = (name: string) => memberSchemas(listed, name).length === 0;
    violated.push(literalsOnly({ ...ANY_MEMBER, selects, terms: [violate(additionalProperties)] }));
  }
  return [{ met: [literalsOnly({ kind: 'members', root, schema })], violated }];
}

function arrayParts(root: SchemaRoot, schema: Schema): SchemaPart[] {
  const { prefixItems, items, minItems, maxItems, uniqueItems, contains, minContains, maxContains } = schema;
  const violate = termMaker(root, false);
  const parts: SchemaPart[] = [];
  if (typeof minItems === 'number') parts.push(atLeast(minItems, count));
  if (typeof maxItems === 'number') parts.push(atMost(maxItems, count));
  if (uniqueItems === true)
    parts.push(literalPart({ kind: 'unique', isPositive: true }, { kind: 'unique', isPositive: false }));
  if (prefixItems !== undefined || items !== undefined) {
    const { length } = toList(prefixItems);
    // Another schema may fix the first of the remaining items.
    const rest = items === undefined ? [] : [length, length + 1, length + 2];
    const indexes = [...toList(prefixItems).keys(), ...rest];
    parts.push({
      met: [literalsOnly({ kind: 'items', root, schema })],
      violated: indexes.map((index) =>
        literalsOnly({ kind: 'item', index, terms: [violate(itemSchema(schema, index))] }),
      ),
    });
  }
  if ('contains' in schema) {
    const term = { root, schema: contains, isPositive: true };
    const matching: CountLiteral = (min, max) => literalsOnly({ kind: 'matching-items', term, min, max });
    parts.push(atLeast(typeof minContains === 'number' ? minContains : 1, matching));
    if (typeof maxContains === 'number') parts.push(atMost(maxContains, matching));
  }
  if ('unevaluatedItems' in schema) {
    const terms = [violate(schema['unevaluatedItems'])];
    // An item may be unevaluated at any index, so each of the first few is one way to violate the keyword.
    const violated = [0, 1, 2, 3].map((index) => literalsOnly({ kind: 'item', index, terms }));
    parts.push({ met: [literalsOnly()], violated });
  }
  return parts;
}

type CountLiteral = (min: number, max: number) => SchemaAlternative;

const count: CountLiteral = (min, max) => literalsOnly({ kind: 'count', min, max });

function atLeast(min: number, literal: CountLiteral): SchemaPart {
  const least = Math.ceil(min);
  return { met: [literal(least, Number.POSITIVE_INFINITY)], violated: least > 0 ? [literal(0, least - 1)] : [] };
}

function atMost(max: number, literal: CountLiteral): SchemaPart {
  return { met: [literal(0, max)], violated: [literal(Math.floor(max) + 1, Number.POSITIVE_INFINITY)] };
}

/** The part of a keyword that one literal describes. */
function keywordPart(keyword: string, value: unknown): SchemaPart {
  const literal = { kind: 'keyword', keyword, value } as const;
  return literalPart({ ...literal, isPositive: true }, { ...literal, isPositive: false });
}

function present(name: string): SchemaLiteral {
  return { kind: 'present', name, terms: [] };
}

function absent(name: string): SchemaLiteral {
  return { kind: 'absent', name };
}
