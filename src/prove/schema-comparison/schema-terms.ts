import { charge } from '../../engine/schema/cost-budget.ts';
import type { SchemaRoot } from '../../engine/schema/schema-walk.ts';
import { accepts, targetOf } from './evaluate-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A condition for a value: a schema accepts it or, if negative, refuses it. */
export interface SchemaTerm {
  readonly root: SchemaRoot;
  readonly schema: unknown;
  readonly isPositive: boolean;
}

export function satisfies(value: unknown, terms: readonly SchemaTerm[]): boolean {
  return terms.every(({ root, schema, isPositive }) => accepts(root, schema, value) === isPositive);
}

/** Returns a term for a schema that refers to no other one. */
export function standaloneTerm(schema: object, isPositive: boolean): SchemaTerm {
  return { root: NO_ROOT, schema, isPositive };
}

const NO_ROOT: SchemaRoot = { schemas: {}, routes: [], files: {} };

/** A condition that cannot be divided further. It limits the values of one type. */
export type SchemaLiteral =
  /** A keyword of a number or a text, an `enum`, or `integer`. */
  | { readonly kind: 'keyword'; readonly keyword: string; readonly value: unknown; readonly isPositive: boolean }
  /** The object has a member that satisfies the terms. */
  | { readonly kind: 'present'; readonly name: string; readonly terms: readonly SchemaTerm[] }
  | { readonly kind: 'absent'; readonly name: string }
  /** The object has a member whose name `selects` accepts and whose value satisfies the terms. */
  | SomeMember
  /** The schemas of members apply: those of `properties`, `patternProperties`, `additionalProperties`. */
  | { readonly kind: 'members'; readonly root: SchemaRoot; readonly schema: Schema }
  | { readonly kind: 'names'; readonly term: SchemaTerm }
  | { readonly kind: 'count'; readonly min: number; readonly max: number }
  /** The list has an item at the index that satisfies the terms. */
  | { readonly kind: 'item'; readonly index: number; readonly terms: readonly SchemaTerm[] }
  | { readonly kind: 'items'; readonly root: SchemaRoot; readonly schema: Schema }
  /** The number of items that the schema accepts. */
  | { readonly kind: 'matching-items'; readonly term: SchemaTerm; readonly min: number; readonly max: number }
  | { readonly kind: 'unique'; readonly isPositive: boolean };

export type LiteralOf<Kind extends SchemaLiteral['kind']> = Extract<SchemaLiteral, { kind: Kind }>;

export function literalsOf<Kind extends SchemaLiteral['kind']>(
  literals: readonly SchemaLiteral[],
  kind: Kind,
): LiteralOf<Kind>[] {
  return literals.filter((literal): literal is LiteralOf<Kind> => literal.kind === kind);
}

export interface SomeMember {
  readonly kind: 'some-member';
  readonly selects: (name: string) => boolean;
  /** A pattern that the names match, if one is known. */
  readonly pattern?: string;
  readonly nameTerms: readonly SchemaTerm[];
  readonly terms: readonly SchemaTerm[];
}

/** One way to satisfy a part of a schema. */
export interface SchemaAlternative {
  readonly terms: readonly SchemaTerm[];
  readonly literals: readonly SchemaLiteral[];
}

/** A part of a schema: one keyword, or several that work together. A value meets the schema if it meets all parts. */
export interface SchemaPart {
  /** The ways to meet the part. */
  readonly met: readonly SchemaAlternative[];
  /** The ways to violate the part. */
  readonly violated: readonly SchemaAlternative[];
}

/** Returns the parts whose schemas apply to the same value: references, branches and conditions. */
export function inPlaceParts(root: SchemaRoot, schema: Schema): SchemaPart[] {
  const { $ref: reference, allOf, anyOf, oneOf, not, if: condition, then = true, else: otherwise = true } = schema;
  const [meet, violate] = [termMaker(root, true), termMaker(root, false)];
  const parts: SchemaPart[] = [];
  const all = (schemas: readonly unknown[]) =>
    parts.push({
      met: [termsOnly(schemas.map(meet))],
      violated: schemas.map((inside) => termsOnly([violate(inside)])),
    });
  if (typeof reference === 'string') all([targetOf(root, reference)]);
  if (Array.isArray(allOf)) all(allOf);
  if (Array.isArray(anyOf))
    parts.push({ met: anyOf.map((inside) => termsOnly([meet(inside)])), violated: [termsOnly(anyOf.map(violate))] });
  if (Array.isArray(oneOf)) parts.push(oneOfPart(oneOf, meet, violate));
  if ('not' in schema) parts.push({ met: [termsOnly([violate(not)])], violated: [termsOnly([meet(not)])] });
  if ('if' in schema)
    parts.push({
      met: [termsOnly([meet(condition), meet(then)]), termsOnly([violate(condition), meet(otherwise)])],
      violated: [termsOnly([meet(condition), violate(then)]), termsOnly([violate(condition), violate(otherwise)])],
    });
  return parts;
}

type MakeTerm = (schema: unknown) => SchemaTerm;

/** The alternatives are lists of schemas or pairs of them, so they are created only when they are needed. */
function oneOfPart(schemas: readonly unknown[], meet: MakeTerm, violate: MakeTerm): SchemaPart {
  return {
    get met() {
      charge(TERM_COST * schemas.length ** 2);
      const [met, violated] = [schemas.map(meet), schemas.map(violate)];
      return met.map((term, index) => termsOnly([term, ...violated.toSpliced(index, 1)]));
    },
    get violated() {
      charge(TERM_COST * schemas.length ** 2);
      const met = schemas.map(meet);
      const pairs = met.flatMap((one, index) => met.slice(index + 1).map((other) => termsOnly([one, other])));
      return [termsOnly(schemas.map(violate)), ...pairs];
    },
  };
}

/** The cost to create a term, in the units of `charge`. */
const TERM_COST = 2;

export function termMaker(root: SchemaRoot, isPositive: boolean): MakeTerm {
  return (schema) => ({ root, schema, isPositive });
}

function termsOnly(terms: readonly SchemaTerm[]): SchemaAlternative {
  return { terms, literals: [] };
}

export function literalsOnly(...literals: readonly SchemaLiteral[]): SchemaAlternative {
  return { terms: [], literals };
}

/** Returns the part that one literal meets, and another one violates. */
export function literalPart(met: SchemaLiteral, violated: SchemaLiteral): SchemaPart {
  return { met: [literalsOnly(met)], violated: [literalsOnly(violated)] };
}
