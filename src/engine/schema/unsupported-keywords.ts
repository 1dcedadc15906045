import { didYouMean } from '../problem/did-you-mean.ts';
import { formOf, KNOWN_KEYWORDS } from './keywords.ts';

const REFERENCE = 'is not supported; remove it, and refer to a schema as #/schemas/ and its name';
const FORMAT_RANGE = 'is not a keyword of JSON Schema; remove it, and limit the text with "pattern"';

/** Keywords of other drafts, of OpenAPI and of other validators, with the message for each. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  $anchor: REFERENCE,
  $dynamicAnchor: REFERENCE,
  $dynamicRef: REFERENCE,
  $id: REFERENCE,
  $recursiveAnchor: REFERENCE,
  $recursiveRef: REFERENCE,
  id: REFERENCE,
  // Such a schema validates asynchronously: every body would already have passed.
  $async: 'is not a keyword of JSON Schema; remove it',
  $vocabulary: 'is not supported; remove it',
  contentMediaType: 'validates nothing; remove it',
  contentSchema: 'validates nothing; remove it',
  nullable: "is not a keyword of JSON Schema; add 'null' to \"type\", as in type: [string, 'null']",
  dependencies:
    'is not a keyword of JSON Schema 2020-12; write dependentRequired for names, dependentSchemas for schemas',
  additionalItems: 'is not a keyword of JSON Schema 2020-12; write prefixItems for the list, and items for the rest',
  discriminator: 'is not a keyword of JSON Schema; remove it, and give the member a const in each schema of oneOf',
  divisibleBy: 'is not a keyword of JSON Schema 2020-12; write multipleOf',
  extends: 'is not a keyword of JSON Schema 2020-12; write allOf',
  disallow: 'is not a keyword of JSON Schema 2020-12; write not',
  example: 'is not a keyword of JSON Schema; write examples, with a list',
  externalDocs: 'is not a keyword of JSON Schema; remove it',
  xml: 'is not a keyword of JSON Schema; remove it',
  formatMinimum: FORMAT_RANGE,
  formatMaximum: FORMAT_RANGE,
  formatExclusiveMinimum: FORMAT_RANGE,
  formatExclusiveMaximum: FORMAT_RANGE,
};

/** Returns the message for a keyword that a schema may not have; `undefined` if it is supported. */
export function unsupportedKeywordMessage(keyword: string): string | undefined {
  if (formOf(keyword) !== undefined) return undefined;
  if (Object.hasOwn(UNSUPPORTED, keyword)) return `"${keyword}" ${UNSUPPORTED[keyword]}`;
  const near = didYouMean(keyword, KNOWN_KEYWORDS);
  const fix = near === undefined ? 'remove it' : `did you mean "${near}"?`;
  return `"${keyword}" is not a keyword of JSON Schema; ${fix}`;
}
