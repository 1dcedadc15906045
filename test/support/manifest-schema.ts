import { readFileSync } from 'node:fs';
import { toValidationSchema } from '../../scripts/editor-keywords.ts';

/** A part of the manifest's JSON Schema. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

/** The schema that the values match after the substitution of variables. */
export const manifestSchema: SchemaNode = toValidationSchema(
  JSON.parse(readFileSync(new URL('../../schema/gateway.schema.json', import.meta.url), 'utf8')),
);

/** Returns the definition that a node refers to. */
export function definitionOf({ $ref }: SchemaNode): SchemaNode | undefined {
  return $ref === undefined ? undefined : manifestSchema.$defs?.[$ref.replace('#/$defs/', '')];
}
