import type { ParsedText } from '../engine/manifest/document.ts';
import { replaceScalar } from '../engine/manifest/yaml-text.ts';
import type { Path } from '../engine/problem/finding.ts';
import type { TextEdit } from '../engine/problem/problem.ts';
import { referencePath } from '../engine/schema/schema-walk.ts';
import { type FileRole, roleOf } from './file-links.ts';
import type { Project } from './project.ts';
import type { TextFile } from './text-file.ts';

export type NameKind = 'upstream' | 'schema' | 'rateLimit' | 'store' | 'role' | 'issuer' | 'route';

/** How a kind is called in messages. */
export const KIND_LABELS: Readonly<Record<NameKind, string>> = {
  upstream: 'upstream',
  schema: 'schema',
  rateLimit: 'rate limit',
  store: 'store',
  role: 'role',
  issuer: 'token method',
  route: 'route',
};

/** A place where a file defines a name or refers to it. */
export interface NameOccurrence {
  readonly kind: NameKind;
  readonly name: string;
  readonly isDefinition: boolean;
  readonly file: TextFile;
  /** The offsets of the name in the text, without quotes. */
  readonly start: number;
  readonly end: number;
  /** Returns the edit that writes another name here. */
  readonly replace: (name: string) => TextEdit | undefined;
}

/** A path at which files have names; `*` is any key or index. */
interface NameSite {
  readonly kind: NameKind;
  readonly path: readonly string[];
  readonly isDefinition?: boolean;
  /** Default: the value. */
  readonly at?: 'key';
}

/** References to schemas are not listed: they are the values of all keys `$ref`. */
const MANIFEST_SITES: readonly NameSite[] = [
  { kind: 'upstream', path: ['upstreams', '*'], at: 'key', isDefinition: true },
  { kind: 'upstream', path: ['routes', '*', 'upstream'] },
  { kind: 'upstream', path: ['auth', 'tokens', '*', 'endpoint', 'upstream'] },
  { kind: 'upstream', path: ['auth', 'tokens', '*', '*', 'endpoint', 'upstream'] },
  { kind: 'upstream', path: ['invariants', '*', 'when', 'upstream'] },
  { kind: 'upstream', path: ['invariants', '*', 'when', 'upstream', '*'] },
  { kind: 'upstream', path: ['invariants', '*', 'require', 'upstream', 'only', '*'] },
  { kind: 'schema', path: ['schemas', '*'], at: 'key', isDefinition: true },
  { kind: 'rateLimit', path: ['rateLimits', '*'], at: 'key', isDefinition: true },
  { kind: 'rateLimit', path: ['routes', '*', 'rateLimits', '*'] },
  { kind: 'rateLimit', path: ['defaults', 'rateLimits', '*'] },
  { kind: 'rateLimit', path: ['invariants', '*', 'require', 'rateLimit', '*'] },
  { kind: 'store', path: ['stores', '*'], at: 'key', isDefinition: true },
  { kind: 'store', path: ['rateLimits', '*', 'store'] },
  { kind: 'role', path: ['auth', 'role', 'allow', '*'], isDefinition: true },
  { kind: 'role', path: ['auth', 'tokens', '*', 'role', 'allow', '*'], isDefinition: true },
  { kind: 'role', path: ['routes', '*', 'roles', '*'] },
  { kind: 'role', path: ['defaults', 'roles', '*'] },
  { kind: 'issuer', path: ['auth', 'tokens', '*', 'name'], isDefinition: true },
  { kind: 'issuer', path: ['defaults', 'issuers', '*'] },
  { kind: 'issuer', path: ['routes', '*', 'issuers', '*'] },
  { kind: 'issuer', path: ['routes', '*', 'login', 'issuer'] },
  { kind: 'issuer', path: ['invariants', '*', 'when', 'issuer'] },
  { kind: 'issuer', path: ['invariants', '*', 'when', 'issuer', '*'] },
  { kind: 'issuer', path: ['invariants', '*', 'require', 'issuers', 'only', '*'] },
  { kind: 'role', path: ['invariants', '*', 'require', 'roles', 'only', '*'] },
  { kind: 'role', path: ['invariants', '*', 'require', 'roles', 'atLeast', '*'] },
  { kind: 'route', path: ['routes', '*', 'id'], isDefinition: true },
  { kind: 'route', path: ['invariants', '*', 'except', '*'] },
  { kind: 'route', path: ['invariants', '*', 'except', '*', 'route'] },
];

const TEST_FILE_SITES: readonly NameSite[] = [
  { kind: 'route', path: ['cases', '*', 'expect', 'route'] },
  { kind: 'upstream', path: ['cases', '*', 'expect', 'upstream', 'id'] },
  { kind: 'role', path: ['cases', '*', 'request', 'role'] },
  { kind: 'role', path: ['cases', '*', 'request', 'role', '*'] },
  { kind: 'role', path: ['tokens', '*', 'role'] },
  { kind: 'issuer', path: ['tokens', '*', 'issuer'] },
  { kind: 'issuer', path: ['cases', '*', 'request', 'issuer'] },
];

function sitesOf(role: FileRole): readonly NameSite[] {
  return role === 'test-file' ? TEST_FILE_SITES : MANIFEST_SITES;
}

const SCHEMA_PREFIX = '#/schemas/';

export function nameAtOffset(file: TextFile, offset: number): NameOccurrence | undefined {
  const role = roleOf(file);
  if (role === undefined) return undefined;
  return findNames(file, role).find(({ start, end }) => start <= offset && offset <= end);
}

/** Returns all places of a name in the files of its projects: the definitions first, then in the order of the files. */
export function findOccurrences({ kind, name }: Pick<NameOccurrence, 'kind' | 'name'>, files: readonly TextFile[]) {
  return files
    .flatMap((file) => namesOf(file))
    .filter((other) => other.kind === kind && other.name === name)
    .toSorted((a, b) => Number(b.isDefinition) - Number(a.isDefinition));
}

export function filesOf(projects: readonly Project[]): TextFile[] {
  const files = projects.flatMap((project) => project.allFiles());
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

export function findDefinitions(projects: readonly Project[]): NameOccurrence[] {
  const files = projects.flatMap((project) => project.sources());
  return files.flatMap((file) => namesOf(file)).filter(({ isDefinition }) => isDefinition);
}

function namesOf(file: TextFile): NameOccurrence[] {
  return findNames(file, roleOf(file) ?? 'part');
}

/** Returns all names in a file, in no order. A text with syntax errors has those that can be read. */
function findNames(file: TextFile, role: FileRole): NameOccurrence[] {
  const { positions } = file.parsed;
  const found = sitesOf(role).flatMap((site) =>
    [...rowsAt(positions, site.path)].flatMap((row) => {
      const range = site.at === 'key' ? positions.keyOf(row) : scalarAt(positions, row);
      return range === undefined ? [] : nameAt(file, range, site);
    }),
  );
  if (role === 'test-file') return found;
  return [...found, ...positions.scalarsNamed(/^\$ref$/).flatMap((range) => schemaReferenceAt(file, range))];
}

/** Returns the kind of name that a file has at a path, and whether it is a list of names; `undefined` if it has none. */
export function nameKindAt(role: FileRole, path: Path) {
  const values = sitesOf(role).filter(({ at, isDefinition }) => at !== 'key' && isDefinition !== true);
  const isMatch = (pattern: readonly string[]) =>
    pattern.length === path.length && pattern.every((step, index) => step === '*' || step === path[index]);
  const exact = values.find((site) => isMatch(site.path));
  if (exact !== undefined) return { kind: exact.kind, isList: false };
  const list = values.find((site) => site.path.at(-1) === '*' && isMatch(site.path.slice(0, -1)));
  return list && { kind: list.kind, isList: true };
}

/** Yields the rows of the values whose path matches a pattern. */
export function* rowsAt(positions: ParsedText['positions'], pattern: readonly string[], row = 0): Generator<number> {
  const [step, ...rest] = pattern;
  if (step === undefined) return yield row;
  for (const member of positions.members(row))
    if (step === '*' || step === member.step) yield* rowsAt(positions, rest, member.row);
}

function scalarAt(positions: ParsedText['positions'], row: number) {
  return positions.isScalar(row) ? positions.valueOf(row) : undefined;
}

/** Returns the text of a scalar on one line, and the offsets of the text without quotes; `undefined` for an alias. */
function readScalarText(text: string, { start, end }: ScalarRange) {
  const source = text.slice(start, end);
  const [, quote = '', inner = ''] = /^(["']?)([^"'\n]*)\1$/.exec(source) ?? [];
  if (inner === '' || inner.includes('\\') || /^[*&!|>]/.test(source)) return undefined;
  return { value: inner, start: start + quote.length, end: end - quote.length };
}

/** Returns a function that returns the texts of a map's members: a scalar without quotes, a list as it is written. */
export function memberTexts(
  { text, parsed: { positions } }: TextFile,
  row: number,
): (key: string) => string | undefined {
  const members = new Map([...positions.members(row)].map(({ step, row: member }) => [step, member]));
  return (key) => {
    const member = members.get(key);
    if (member === undefined) return undefined;
    const range = positions.valueOf(member);
    return readScalarText(text, range)?.value ?? text.slice(range.start, range.end);
  };
}

type ScalarRange = { readonly start: number; readonly end: number };

function nameAt(file: TextFile, range: ScalarRange, { kind, isDefinition = false }: NameSite): NameOccurrence[] {
  const scalar = readScalarText(file.text, range);
  // A value from the environment has another name in each environment.
  if (scalar === undefined || scalar.value.includes('${')) return [];
  const { value: name, start, end } = scalar;
  const replace = (text: string) => replaceScalar(file.text, { ...range, isInFlow: true }, text);
  return [{ kind, name, isDefinition, file, start, end, replace }];
}

function schemaReferenceAt(file: TextFile, range: ScalarRange): NameOccurrence[] {
  const scalar = readScalarText(file.text, range);
  if (scalar === undefined || !scalar.value.startsWith(SCHEMA_PREFIX)) return [];
  const [written = ''] = scalar.value.slice(SCHEMA_PREFIX.length).split('/');
  const name = referencePath(SCHEMA_PREFIX + written)?.[1] ?? written;
  const start = scalar.start + SCHEMA_PREFIX.length;
  const end = start + written.length;
  const replace = (text: string) => ({ start, end, text });
  return [{ kind: 'schema', name, isDefinition: false, file, start, end, replace }];
}
