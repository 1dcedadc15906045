import {
  type Document,
  isMap as isMapNode,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { formatText } from '../../engine/manifest/format.ts';
import type { FindingLocation, Path } from '../../engine/problem/finding.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';

/** The file cannot be merged. The message says why. */
export class MergeError extends Error {
  readonly location: FindingLocation;

  constructor(message: string, location: FindingLocation) {
    super(message);
    this.location = location;
  }
}

/** The schemas by name, and the routes by id. */
export interface RouteFileValues {
  readonly schemas: Readonly<Record<string, unknown>>;
  /** Routes without an id are not those of an import. */
  readonly routes: Readonly<Record<string, unknown>>;
}

/** An included file with routes and schemas, which can be edited without loss of its comments. A path has the id of a route. */
export class RouteFile {
  /** The text before all edits. */
  readonly text: string;
  readonly #document: Document;

  /** Throws a `MergeError` for a text that is no such file, or that an edit could change in more than one place. */
  constructor(text: string) {
    this.text = text;
    this.#document = parseDocument(text);
    requireNoAliases(this.#document);
    requireShape(this.#document);
    useTextKeys(this.#document);
    attachFirstComment(this.#list());
    attachFirstComment(this.#document.get('schemas', true));
  }

  values(): RouteFileValues {
    const { schemas, routes } = this.#members();
    const list: readonly unknown[] = Array.isArray(routes) ? routes : [];
    const byId = list.flatMap((route) =>
      isMap(route) && typeof route['id'] === 'string' ? [[route['id'], route]] : [],
    );
    return { schemas: isMap(schemas) ? schemas : {}, routes: Object.fromEntries(byId) as Record<string, unknown> };
  }

  /** Returns a path with the index of the route in place of its id; the list of routes if the file has no such route. */
  indexed([section, name, ...rest]: Path): Path {
    if (section !== 'routes' || name === undefined)
      return [section, name, ...rest].filter((step) => step !== undefined);
    const index = this.#indexOf(String(name));
    return index === -1 ? ['routes'] : ['routes', index, ...rest];
  }

  remove(path: Path): void {
    this.#document.deleteIn(this.indexed(path));
  }

  /** Takes the value at a path from another file, as it is written there. */
  take(path: Path, from: RouteFile): void {
    const place = this.indexed(path);
    const node = from.#document.getIn(from.indexed(path), true);
    if (path[0] === 'routes' && place.length === 1) this.#insert(node as YAMLMap, from);
    else this.#document.setIn(place, node);
  }

  rename(id: string, newId: string): void {
    this.#document.setIn([...this.indexed(['routes', id]), 'id'], newId);
  }

  /** Removes schemas, but not those that a remaining part of the file refers to. */
  removeSchemas(names: readonly string[]): void {
    const { routes } = this.#members();
    const schemas = Object.entries(this.values().schemas);
    const removed = new Set(names);
    const isNeeded = (name: string) => {
      const others = schemas.filter(([other]) => !removed.has(other));
      return JSON.stringify([routes, others]).includes(JSON.stringify(`#/schemas/${name}`).slice(0, -1));
    };
    // A schema that stays may need another one.
    for (let size = -1; size !== removed.size; ) {
      size = removed.size;
      for (const name of removed) if (isNeeded(name)) removed.delete(name);
    }
    for (const name of removed) this.remove(['schemas', name]);
    if (removed.size > 0 && schemas.length === removed.size) this.#document.delete('schemas');
  }

  /** Returns the text, in the format of `fmt`. */
  toText(): string {
    return formatText(this.#document.toString({ lineWidth: 0 }));
  }

  #members(): { readonly schemas?: unknown; readonly routes?: unknown } {
    const value: unknown = this.#document.toJS();
    return isMap(value) ? value : {};
  }

  #list(): YAMLSeq<YAMLMap> | undefined {
    const list = this.#document.get('routes', true);
    return isSeq(list) ? (list as YAMLSeq<YAMLMap>) : undefined;
  }

  #indexOf(id: string): number {
    return this.#list()?.items.findIndex((route) => route.get('id') === id) ?? -1;
  }

  /** Inserts a route of another file after the nearest one that precedes it there. */
  #insert(route: YAMLMap, from: RouteFile): void {
    const list = this.#list();
    if (list === undefined) {
      this.#document.set('routes', this.#document.createNode([route]));
      return;
    }
    const others = from.#list()?.items ?? [];
    const places = others.slice(0, others.indexOf(route)).map((other) => this.#indexOf(String(other.get('id'))));
    const position = (places.findLast((place) => place !== -1) ?? -1) + 1;
    const [first] = list.items;
    route.spaceBefore = position > 0 || Boolean(list.commentBefore);
    if (position === 0 && first !== undefined) first.spaceBefore = true;
    list.items.splice(position, 0, route);
  }
}

function requireShape(document: Document): void {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return;
  if (!isMapNode(contents))
    throw new MergeError('this is not a file with routes; its keys are schemas and routes', { path: [], at: 'value' });
  const schemas = document.get('schemas', true);
  if (isNode(schemas) && !isMapNode(schemas) && !isNull(schemas))
    throw new MergeError('"schemas" is not a map of names; correct it before the import', {
      path: ['schemas'],
      at: 'key',
    });
  const routes = document.get('routes', true);
  if (!isNode(routes) || isNull(routes)) return;
  if (!isSeq(routes))
    throw new MergeError('"routes" is not a list; correct it before the import', { path: ['routes'], at: 'key' });
  const ids = new Set<unknown>();
  for (const [index, route] of routes.items.entries()) {
    const location = { path: ['routes', index], at: 'value' } as const;
    if (!isMapNode(route)) throw new MergeError('this is not a route; correct it before the import', location);
    const id = route.get('id');
    if (id !== undefined && ids.has(id))
      throw new MergeError(`another route has the id "${id}"; a merge needs different ones`, location);
    ids.add(id);
  }
}

function isNull(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

/** An edit of one alias would change the others. */
function requireNoAliases(document: Document): void {
  visit(document, {
    Alias: (_key, { source, range }) => {
      const [start = 0, end = start] = range ?? [];
      throw new MergeError(`the alias "*${source}" cannot be merged; write its value in its place`, { start, end });
    },
  });
}

/** A key such as 200 is a text in the values of a file, and could not be found by it. */
function useTextKeys(document: Document): void {
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && typeof key.value !== 'string') key.value = key.source ?? String(key.value);
    },
  });
}

/** The library keeps the comment above the first member with the list. It would stay there if the member moves. */
function attachFirstComment(collection: unknown): void {
  if (!isSeq(collection) && !isMapNode(collection)) return;
  const [first] = collection.items as unknown[];
  const member = isPair(first) ? first.key : first;
  const { commentBefore } = collection;
  if (!isNode(member) || !commentBefore) return;
  // A paragraph of its own concerns the whole list.
  const paragraphs = commentBefore.split('\n\n');
  member.commentBefore = paragraphs.pop() ?? '';
  collection.commentBefore = paragraphs.join('\n\n') || null;
}
