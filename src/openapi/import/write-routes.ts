import { isDeepStrictEqual } from 'node:util';
import { Document, isCollection, isPair, isScalar, Scalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { formatText } from '../../check/fmt/format-text.ts';
import { parse } from '../../engine/manifest/document.ts';
import type { ImportedRoutes } from './import-openapi.ts';
import { escapeVariables } from './remove-refused.ts';

/** Writes imported routes as a file to include, always the same for a document. Throws if the text does not have the same values. */
export function writeRoutes({ routes, schemas }: ImportedRoutes): string {
  const value = escapeVariables({
    ...(schemas.size > 0 ? { schemas: Object.fromEntries(schemas) } : {}),
    routes: routes.map(({ entry }) => entry),
  });
  const document = new Document(
    value,
    // Aliases would be shorter, and harder to edit.
    { aliasDuplicateObjects: false },
  );
  for (const key of ['schemas', 'routes']) {
    const section = document.get(key);
    if (isCollection(section)) for (const item of section.items) setFlow(isPair(item) ? item.value : item, false);
  }
  const list = document.get('routes') as YAMLSeq<YAMLMap>;
  for (const [index, { comment }] of routes.entries()) {
    const route = list.items[index];
    if (route === undefined) continue;
    route.spaceBefore = index > 0;
    if (comment !== '')
      route.commentBefore = ` ${comment.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ').replaceAll(UNSEEN, '')}`;
  }
  visit(document, { Scalar: (key, scalar) => setQuotes(scalar, key === 'key') });
  const text = formatText(document.toString({ lineWidth: 0 }).replaceAll(UNSEEN, escapeCharacter));
  if (!isDeepStrictEqual(toPlain(parse({ path: 'routes', text }).document.value), toPlain(value)))
    throw new Error('the routes cannot be written as YAML');
  return text;
}

/** Every character but line breaks that a reader cannot see, or takes for a space. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu;
/** Texts of several lines that need no quotes: a block shows spaces at the ends of lines badly, and cannot begin with one. */
const PLAIN_LINES = /^\S(?:.*\S)?(?:\n(?:.*\S)?)*(?<!\s)$/;

/** Quotes a text that the package would write in a form that YAML reads as another value, or that people cannot read. */
function setQuotes(scalar: Scalar, isKey: boolean): void {
  const { value } = scalar;
  if (typeof value !== 'string') return;
  const isPlain =
    value !== '<<' && value.search(UNSEEN) === -1 && (!value.includes('\n') || (!isKey && PLAIN_LINES.test(value)));
  if (!isPlain) scalar.type = Scalar.QUOTE_DOUBLE;
}

function escapeCharacter(character: string): string {
  return [...character].length === character.length
    ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    : `\\U${character.codePointAt(0)?.toString(16).padStart(8, '0')}`;
}

function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Writes a list or map on one line if it contains only scalars of one line. */
function setFlow(node: unknown, mayBeFlow = true): void {
  if (!isCollection(node)) return;
  const values = node.items.map((item) => (isPair(item) ? item.value : item));
  if (mayBeFlow && values.every(isOneLine)) node.flow = true;
  else for (const value of values) setFlow(value);
}

function isOneLine(value: unknown): boolean {
  return value === null || (isScalar(value) && !String(value.value).includes('\n'));
}
