import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { displayPathBeside } from '../problem/problem.ts';
import { isMap } from '../schema/schema-walk.ts';
import { MAX_GLOB_MATCHES, type TrackedEnvironment } from './dependencies.ts';
import { type Document, parse } from './document.ts';
import { isIgnoredKey, isManifestKey, isMergedKey, MERGED_KEYS } from './manifest-keys.ts';
import { mergeDocuments } from './merge-documents.ts';
import { unknownDefaults } from './route-defaults.ts';
import { describeFileError, fileErrorCode, MAX_FILE_BYTES, type Source } from './source.ts';

const RULE = 'include';
const MAX_FILES = 1_000;

type Report = (path: Path, message: string) => void;

/** Parses a manifest and its included files into one document. Never throws, even for invalid text. */
export function readDocument(source: Source, environment: TrackedEnvironment) {
  const main = parse(source);
  const patterns = includeGlobs(main.document);
  if (main.findings.length > 0) return main;
  const findings: Finding[] = [];
  const report: Report = (path, message) => findings.push(errorAt(path, RULE, message));
  const read = (file: string, path: Path) => readNamedFile(file, path, environment, report);
  const parseFile = (file: string, text: string, findingsOf: (document: Document) => Finding[]): Document => {
    const { document, findings: syntax } = parse({ path: displayPathBeside(source.path, file), text });
    const found = syntax.length > 0 ? syntax : findingsOf(document);
    for (const finding of found) findings.push(withFile(finding, document.file));
    return document;
  };
  const named = invariantsFileOf(main.document);
  // The files of the environment may be outside of the manifest's folder.
  const invariantFiles = [...(named === undefined ? [] : [named]), ...(environment.invariantFiles ?? [])];
  const invariants = invariantFiles.flatMap((file) => {
    const text = read(file, file === named ? ['invariants', 'file'] : []);
    return text === undefined ? [] : [parseFile(file, text, invariantFileFindings)];
  });
  if (!isMap(main.document.value)) return { document: main.document, findings };
  const files = findIncludedFiles(patterns, environment, report);
  let bytes = Buffer.byteLength(source.text);
  const included = [...files].flatMap(([file, index]) => {
    // The limit of one file applies to all texts together. Files after it are not read.
    if (bytes > MAX_FILE_BYTES) return [];
    const path = ['include', ...(patterns.isList ? [index] : [])];
    if (displayPathBeside(source.path, file) === source.path) {
      report(path, 'a manifest cannot include itself; include other files only');
      return [];
    }
    const text = read(file, path);
    if (text === undefined) return [];
    bytes += Buffer.byteLength(text);
    if (bytes <= MAX_FILE_BYTES) return [parseFile(file, text, includedFileFindings)];
    report(path, `the file "${file}" makes the manifest larger than ${MAX_FILE_BYTES} bytes; include fewer files`);
    return [];
  });
  const merged = mergeDocuments(main.document, [...included, ...invariants]);
  return { document: merged.document, findings: [...findings, ...merged.findings] };
}

/** Returns the text of a file that the manifest names; `undefined` if it cannot be read, which it reports. */
function readNamedFile(file: string, path: Path, { readFile }: TrackedEnvironment, report: Report): string | undefined {
  try {
    return readFile(file);
  } catch (error) {
    report(path, `the file "${file}" cannot be read: ${describeFileError(fileErrorCode(error))}`);
    return undefined;
  }
}

/** Returns a finding with its places in one file of the manifest. */
function withFile(finding: Finding, file: string): Finding {
  const { location, related } = finding;
  return { ...finding, location: { ...location, file }, ...(related && { related: { file, ...related } }) };
}

function invariantsFileOf({ value }: Document): string | undefined {
  const invariants = isMap(value) ? value['invariants'] : undefined;
  const file = isMap(invariants) ? invariants['file'] : undefined;
  return typeof file === 'string' && file !== '' ? file : undefined;
}

function invariantFileFindings({ value }: Document): Finding[] {
  const isValid = isMap(value) && Array.isArray(value['invariants']) && Object.keys(value).length === 1;
  return isValid ? [] : [errorAt([], RULE, 'this file must have one key, "invariants", with a list; remove the rest')];
}

/** Parses texts that were parsed without errors before into one document. The first text is the manifest. */
export function parseDocuments(sources: readonly Source[]): Document {
  const [main, ...included] = sources.map((source) => parse(source).document);
  if (main === undefined) throw new RangeError('there is no text to parse');
  return isMap(main.value) ? mergeDocuments(main, included).document : main;
}

/** Returns the patterns of `include`; none if they violate the schema, which reports them. */
function includeGlobs({ value }: Document): readonly string[] & { isList: boolean } {
  const include = isMap(value) ? value['include'] : undefined;
  const isList = Array.isArray(include);
  const all: unknown[] = isList ? include : [include];
  const isValid = all.every((pattern) => typeof pattern === 'string' && pattern !== '');
  return Object.assign(isValid ? (all as string[]) : [], { isList });
}

/** Returns the files of all patterns without duplicates, each with the index of the first pattern that matches it. */
function findIncludedFiles(
  patterns: readonly string[] & { isList: boolean },
  environment: TrackedEnvironment,
  report: Report,
): Map<string, number> {
  const files = new Map<string, number>();
  for (const [index, pattern] of patterns.entries()) {
    const path = ['include', ...(patterns.isList ? [index] : [])];
    const matches = isWithinFolder(pattern) ? environment.expandGlob(pattern) : [];
    // Without this error, a folder that is missing temporarily would remove its routes.
    if (matches.length === 0)
      report(
        path,
        isWithinFolder(pattern)
          ? `no file, or more than ${MAX_GLOB_MATCHES}, matches "${pattern}"; write a pattern of existing files`
          : `"${pattern}" is not in the manifest's folder; write a relative path without .. and without variables`,
      );
    for (const file of matches) if (!files.has(file)) files.set(file, index);
  }
  if (files.size <= MAX_FILES) return files;
  report(['include'], `the patterns match ${files.size} files, and the limit is ${MAX_FILES}; include fewer files`);
  return new Map([...files].slice(0, MAX_FILES));
}

function isWithinFolder(pattern: string): boolean {
  return !/^\/|\\|\$\{|^[A-Za-z]:/.test(pattern) && !pattern.split('/').includes('..');
}

function includedFileFindings({ value }: Document): Finding[] {
  // An empty file may be one that is still being written.
  if (!isMap(value) || Object.keys(value).length === 0)
    return [errorAt([], RULE, 'this included file is empty; add upstreams, schemas or routes')];
  return Object.entries(value).flatMap(([key, member]) => {
    if (isIgnoredKey(key)) return [];
    if (key === 'defaults' && isMap(member))
      return unknownDefaults(member).map((path) => errorAtKey([key, ...path], RULE, UNKNOWN_DEFAULT));
    if (key !== 'defaults' && !isMergedKey(key)) return [errorAtKey([key], RULE, unexpectedKeyMessage(key))];
    if (key === 'routes' ? Array.isArray(member) : isMap(member)) return [];
    const form = key === 'routes' ? 'a list' : 'a map of names';
    return [errorAt([key], RULE, `"${key}" must be ${form}; write it as in the manifest`)];
  });
}

const UNKNOWN_DEFAULT = 'routes have no default for this key; write it in each route';

function unexpectedKeyMessage(key: string): string {
  // Moved to the manifest, an unknown key is unknown there too.
  if (!isManifestKey(key)) return `unknown key "${key}"${suggestion(key, [...MERGED_KEYS, 'defaults'])}`;
  return `"${key}" is not allowed in an included file; move it to the manifest, and keep only ${MERGED_KEYS.join(', ')}, defaults here`;
}
