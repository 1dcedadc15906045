import { Document, isCollection, isPair, isScalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { formatText } from '../../check/fmt/format-text.ts';
import type { ImportedRoutes } from './import-openapi.ts';
import { escapeVariables } from './remove-refused.ts';

/** Writes imported routes as a file that a manifest includes. The same document always gives the same text. */
export function writeRoutes({ routes, schemas }: ImportedRoutes): string {
  const document = new Document(
    escapeVariables({
      ...(schemas.size > 0 ? { schemas: Object.fromEntries(schemas) } : {}),
      routes: routes.map(({ entry }) => entry),
    }),
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
    if (comment !== '') route.commentBefore = ` ${comment.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')}`;
  }
  return formatText(document.toString({ lineWidth: 0 }));
}

/** Writes a list or map on one line if it contains only scalars. */
function setFlow(node: unknown, mayBeFlow = true): void {
  if (!isCollection(node)) return;
  const values = node.items.map((item) => (isPair(item) ? item.value : item));
  if (mayBeFlow && values.every((value) => isScalar(value) || value === null)) node.flow = true;
  else for (const value of values) setFlow(value);
}
