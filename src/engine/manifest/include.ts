import { suggestion } from '../problem/did-you-mean.ts';
import { displayPathBeside } from '../problem/display-path.ts';
import { errorAt, errorAtKey, type Finding } from '../problem/finding.ts';
import type { TrackedEnvironment } from './dependencies.ts';
import { type Document, type DocumentParser, parse } from './document.ts';
import { MAX_GLOB_MATCHES } from './file-glob.ts';
import { readInvariantFiles } from './invariant-files.ts';
import { isManifestKey, isMergedKey, MERGED_KEYS } from './manifest-keys.ts';
import { mergeDocuments } from './merge-documents.ts';
import { readNamedFile, withFile } from './named-file.ts';
import { describeFileError, MAX_FILE_BYTES, type Source } from './source.ts';
import { isMap } from './yaml-kinds.ts';

const RULE = 'include';
const MAX_FILES = 1_000;

/** Parses a manifest and its included files into one document. Never throws, even for invalid text. */
export function readDocument(
  source: Source,
  environment: TrackedEnvironment,
  parseText: DocumentParser = parse,
): { document: Document; findings: Finding[] } {
  const main = parseText(source);
  const patterns = includeGlobs(main.document);
  if (main.findings.length > 0) return main;
  const findings: Finding[] = [];
  const invariants = readInvariantFiles({ source, document: main.document }, environment, parseText, findings);
  if (patterns.length === 0 && invariants.length === 0 && findings.length === 0) return main;
  const files = findIncludedFiles(patterns, environment, findings);
  let bytes = Buffer.byteLength(source.text);
  const included = [...files].flatMap(([file, index]) => {
    // The limit of one file applies to all texts together. Files after it are not read.
    if (bytes > MAX_FILE_BYTES) return [];
    const path = ['include', ...(patterns.isList ? [index] : [])];
    if (displayPathBeside(source.path, file) === source.path) {
      findings.push(errorAt(path, RULE, 'a manifest cannot include itself; include other files only'));
      return [];
    }
    const read = readNamedFile(file, environment);
    const text = typeof read === 'string' ? read : '';
    bytes += Buffer.byteLength(text);
    if (typeof read !== 'string' || bytes > MAX_FILE_BYTES) {
      const reason =
        typeof read === 'string'
          ? `makes the manifest larger than ${MAX_FILE_BYTES} bytes; include fewer files`
          : `cannot be read: ${describeFileError(read.code)}`;
      findings.push(errorAt(path, RULE, `the file "${file}" ${reason}`));
      return [];
    }
    const { document, findings: syntax } = parseText({ path: displayPathBeside(source.path, file), text });
    const fileFindings = syntax.length > 0 ? syntax : includedFileFindings(document);
    for (const finding of fileFindings) findings.push(withFile(finding, document.file));
    return [document];
  });
  const merged = mergeDocuments(main.document, [...included, ...invariants]);
  return { document: merged.document, findings: [...findings, ...merged.findings] };
}

/** Parses texts that were parsed without errors before into one document. The first text is the manifest. */
export function parseDocuments(sources: readonly Source[]): Document {
  const [main, ...included] = sources.map((source) => parse(source).document);
  if (main === undefined) throw new RangeError('there is no text to parse');
  return included.length === 0 ? main : mergeDocuments(main, included).document;
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
  findings: Finding[],
): Map<string, number> {
  const files = new Map<string, number>();
  for (const [index, pattern] of patterns.entries()) {
    const path = ['include', ...(patterns.isList ? [index] : [])];
    const matches = isWithinFolder(pattern) ? environment.expandGlob(pattern) : [];
    if (!isWithinFolder(pattern)) {
      const message = `"${pattern}" is not in the manifest's folder; write a relative path without .. and without variables`;
      findings.push(errorAt(path, RULE, message));
    } else if (matches.length === 0) {
      // Without this error, a folder that is missing temporarily would remove its routes.
      const message = `no file, or more than ${MAX_GLOB_MATCHES}, matches "${pattern}"; write a pattern of existing files`;
      findings.push(errorAt(path, RULE, message));
    }
    for (const file of matches) if (!files.has(file)) files.set(file, index);
  }
  if (files.size <= MAX_FILES) return files;
  findings.push(
    errorAt(
      ['include'],
      RULE,
      `the patterns match ${files.size} files, and the limit is ${MAX_FILES}; include fewer files`,
    ),
  );
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
    if (!isMergedKey(key)) return [errorAtKey([key], RULE, unexpectedKeyMessage(key))];
    if (key === 'routes' ? Array.isArray(member) : isMap(member)) return [];
    return [
      errorAt(
        [key],
        RULE,
        `"${key}" must be ${key === 'routes' ? 'a list' : 'a map of names'}; write it as in the manifest`,
      ),
    ];
  });
}

function unexpectedKeyMessage(key: string): string {
  // Moved to the manifest, an unknown key is unknown there too.
  if (!isManifestKey(key)) return `unknown key "${key}"${suggestion(key, MERGED_KEYS)}`;
  return `"${key}" is not allowed in an included file; move it to the manifest, and keep only ${MERGED_KEYS.join(', ')} here`;
}
