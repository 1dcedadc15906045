import { formatText } from '../../check/fmt/format-text.ts';
import { parseText } from '../../engine/manifest/document.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import { changeMembers, type MemberChange } from '../../engine/manifest/member-edits.ts';
import type { MemberText } from '../../engine/manifest/member-ranges.ts';
import { valueAt } from '../../engine/manifest/schema-finding.ts';
import type { Source } from '../../engine/manifest/source.ts';
import type { YamlValue } from '../../engine/manifest/yaml-values.ts';
import type { Path } from '../../engine/problem/finding.ts';

/** The place of a map: the entry of a route or a map in it, or a path from the root of the manifest. */
export type MapPlace = { readonly route: string; readonly within?: string } | { readonly path: Path };

/** A member of a map. */
export interface MapKey {
  readonly place: MapPlace;
  readonly key: string;
}

/** A route in place of a wildcard. */
export interface NamedRoute {
  readonly id: string;
  readonly path: string;
  readonly methods: readonly string[];
}

/** A change by names, so that it applies to any version of the texts that has them. */
export type ManifestChange =
  | { readonly change: 'remove'; readonly place: MapPlace; readonly key?: string }
  | {
      readonly change: 'set';
      readonly place: MapPlace;
      readonly key: string;
      readonly value: string | readonly string[];
      /** The key after which a new one is written. */
      readonly after?: string;
    }
  | {
      readonly change: 'remove-items';
      readonly place: MapPlace;
      readonly key: string;
      readonly items: readonly string[];
    }
  | { readonly change: 'split'; readonly route: string; readonly into: readonly NamedRoute[] };

/** The texts of a manifest: its own, then those that it includes. */
export interface ManifestTexts {
  readonly sources: readonly Source[];
  readonly manifest: Manifest;
}

interface ParsedFile extends MemberText {
  readonly source: Source;
}

/**
 * Applies changes to the texts. A file in the format of `fmt` stays in this format.
 *
 * @returns `undefined` if a text has no form that is safe to edit
 */
export function changeTexts(texts: ManifestTexts, changes: readonly ManifestChange[]): readonly Source[] | undefined {
  const files = texts.sources.map((source): ParsedFile => ({ source, text: source.text, ...parseText(source.text) }));
  const byFile = new Map<ParsedFile, MemberChange[]>();
  for (const change of changes) {
    for (const { file, change: member } of locate(change, texts.manifest, files)) {
      if (file === undefined) return undefined;
      byFile.set(file, [...(byFile.get(file) ?? []), member]);
    }
  }
  const changed: Source[] = [];
  for (const file of files) {
    const members = byFile.get(file);
    const text = members === undefined ? file.text : changeMembers(file, members);
    if (text === undefined) return undefined;
    changed.push({ path: file.source.path, text: isFormatted(file.text) ? formatText(text) : text });
  }
  return changed;
}

function isFormatted(text: string): boolean {
  return formatText(text) === text;
}

interface LocatedChange {
  readonly file: ParsedFile | undefined;
  readonly change: MemberChange;
}

function locate(change: ManifestChange, manifest: Manifest, files: readonly ParsedFile[]): LocatedChange[] {
  if (change.change === 'split') return [locateSplit(change, manifest, files)];
  const { file, path } = locatePlace(change.place, manifest, files);
  if (change.change === 'set') {
    const { key, value, after = key } = change;
    return [{ file, change: { change: 'set', path: [...path, key], value, after } }];
  }
  if (change.change === 'remove') {
    const { key } = change;
    return [{ file, change: { change: 'remove', path: key === undefined ? path : [...path, key] } }];
  }
  return locateItems(change, { file, path: [...path, change.key] }, manifest);
}

function locateItems(
  { place, key, items }: Extract<ManifestChange, { change: 'remove-items' }>,
  { file, path }: { readonly file: ParsedFile | undefined; readonly path: Path },
  manifest: Manifest,
): LocatedChange[] {
  const list = valueAt(manifest as unknown as YamlValue, [...mergedPath(place, manifest), key]);
  const written: readonly YamlValue[] = Array.isArray(list) ? list : [];
  // The list behind an alias is also that of others, so this one gets a list of its own.
  if (file !== undefined && isAlias(file, path)) {
    const value = written.flatMap((item) => (typeof item === 'string' && !items.includes(item) ? item : []));
    return [{ file, change: { change: 'set', path, value, after: key } }];
  }
  return items.map((item) => ({ file, change: { change: 'remove', path: [...path, written.indexOf(item)] } }));
}

function isAlias({ positions, text }: ParsedFile, path: Path): boolean {
  const { row, depth } = positions.find(path, 'stop');
  return depth === path.length && text[positions.valueOf(row).start] === '*';
}

function locateSplit(
  { route, into }: Extract<ManifestChange, { change: 'split' }>,
  manifest: Manifest,
  files: readonly ParsedFile[],
): LocatedChange {
  const { file, path } = locatePlace({ route }, manifest, files);
  const entry = manifest.routes.find(({ id }) => id === route);
  const copies = into.map((named): MemberChange[] => [
    ...(named.id === route ? [] : [{ change: 'set', path: [...path, 'id'], value: named.id, after: 'id' } as const]),
    { change: 'set', path: [...path, 'path'], value: named.path, after: 'id' },
    ...methodChanges(path, entry?.method, named.methods),
  ]);
  return { file, change: { change: 'copy', path, copies } };
}

/** Removes methods from a list; replaces `any` by a list. */
function methodChanges(
  path: Path,
  written: Manifest['routes'][number]['method'] | undefined,
  methods: readonly string[],
): MemberChange[] {
  const methodPath = [...path, 'method'];
  if (typeof written === 'string' && methods.length === 1 && methods[0] === written) return [];
  if (typeof written === 'string' || written === undefined)
    return [
      { change: 'set', path: methodPath, value: methods.length === 1 ? String(methods[0]) : methods, after: 'id' },
    ];
  const removed = [...written.entries()].filter(([, method]) => !methods.includes(method));
  return removed.map(([index]) => ({ change: 'remove', path: [...methodPath, index] }));
}

/** Returns the changes that leave a route with these methods only. */
export function narrowMethods(
  route: string,
  written: Manifest['routes'][number]['method'],
  methods: readonly string[],
): ManifestChange[] {
  const place = { route };
  if (typeof written === 'string')
    return [{ change: 'set', place, key: 'method', value: methods.length === 1 ? String(methods[0]) : methods }];
  return [
    { change: 'remove-items', place, key: 'method', items: written.filter((method) => !methods.includes(method)) },
  ];
}

/** Returns the file of a place and its path there. */
function locatePlace(
  place: MapPlace,
  manifest: Manifest,
  files: readonly ParsedFile[],
): { readonly file: ParsedFile | undefined; readonly path: Path } {
  if ('path' in place) {
    const file = files.find(({ value }) => hasValueAt(value, place.path));
    return { file, path: place.path };
  }
  let index = manifest.routes.findIndex(({ id }) => id === place.route);
  if (index === -1) return { file: undefined, path: [] };
  for (const file of files) {
    const { length } = routesOf(file.value);
    if (index < length) return { file, path: entryPath(index, place.within) };
    index -= length;
  }
  return { file: undefined, path: [] };
}

function mergedPath(place: MapPlace, manifest: Manifest): Path {
  if ('path' in place) return place.path;
  return entryPath(
    manifest.routes.findIndex(({ id }) => id === place.route),
    place.within,
  );
}

function entryPath(index: number, within: string | undefined): Path {
  return within === undefined ? ['routes', index] : ['routes', index, within];
}

function routesOf(value: YamlValue): readonly YamlValue[] {
  const routes = valueAt(value, ['routes']);
  return Array.isArray(routes) ? routes : [];
}

function hasValueAt(value: YamlValue, path: Path): boolean {
  let at: unknown = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Record<string | number, unknown>)[step];
  }
  return true;
}
