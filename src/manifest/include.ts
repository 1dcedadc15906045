import { errorAt, errorAtKey, type Finding } from '../problem/finding.ts';
import type { TrackedEnvironment } from './dependencies.ts';
import { type Document, parse } from './document.ts';
import { MAX_GLOB_MATCHES } from './file-glob.ts';
import { isMergedKey, MERGED_KEYS } from './manifest-keys.ts';
import { mergeDocuments } from './merge-documents.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';

const RULE = 'include';
const MAX_FILES = 1_000;

/** Text to document; what was parsed before may be remembered. */
export type DocumentParser = typeof parse;

/** Reads a manifest and the files that it includes into one document. Never throws on any text. */
export function readDocument(
  source: Source,
  world: TrackedEnvironment,
  parseText: DocumentParser = parse,
): { document: Document; findings: Finding[] } {
  const main = parseText(source);
  const patterns = includeGlobs(main.document);
  if (main.findings.length > 0 || patterns.length === 0) return main;
  const findings: Finding[] = [];
  const files = findIncludedFiles(patterns, world, findings);
  let bytes = Buffer.byteLength(source.text);
  const included = [...files].flatMap(([file, index]) => {
    // All texts together have the limit of one; the files behind the first one beyond it are not read.
    if (bytes > MAX_FILE_BYTES) return [];
    const place = ['include', ...(patterns.isList ? [index] : [])];
    const text = readText(file, world);
    bytes += Buffer.byteLength(text ?? '');
    if (text === undefined || bytes > MAX_FILE_BYTES) {
      const reason = text === undefined ? 'cannot be read' : `makes the manifest larger than ${MAX_FILE_BYTES} bytes`;
      findings.push(errorAt(place, RULE, `the file "${file}" ${reason}; name files beside the manifest or below it`));
      return [];
    }
    const { document, findings: syntax } = parseText({ path: displayPathBeside(source.path, file), text });
    const found = syntax.length > 0 ? syntax : includedFileFindings(document);
    findings.push(...found.map((finding) => withFile(finding, document.file)));
    return [document];
  });
  const joined = mergeDocuments(main.document, included);
  return { document: joined.document, findings: [...findings, ...joined.findings] };
}

/** The document of texts that were read before, the manifest's own first. */
export function parseDocuments(sources: readonly Source[]): Document {
  const [main, ...included] = sources.map((source) => parse(source).document);
  if (main === undefined) throw new RangeError('no text, no document');
  return included.length === 0 ? main : mergeDocuments(main, included).document;
}

/** What `include` lists; nothing for what the schema is to tell of. */
function includeGlobs({ value }: Document): readonly string[] & { isList: boolean } {
  const written = isMap(value) ? value['include'] : undefined;
  const isList = Array.isArray(written);
  const all: unknown[] = isList ? written : [written];
  const isSound = all.every((pattern) => typeof pattern === 'string' && pattern !== '');
  return Object.assign(isSound ? (all as string[]) : [], { isList });
}

/** The files of all patterns, none of them twice, each with the index of the pattern that it was found by first. */
function findIncludedFiles(
  patterns: readonly string[] & { isList: boolean },
  world: TrackedEnvironment,
  findings: Finding[],
): Map<string, number> {
  const files = new Map<string, number>();
  for (const [index, pattern] of patterns.entries()) {
    const place = ['include', ...(patterns.isList ? [index] : [])];
    const found = isWithinFolder(pattern) ? world.expandGlob(pattern) : [];
    if (!isWithinFolder(pattern)) {
      const message = `"${pattern}" is no file beside the manifest or below it; write its relative path, without .. and without variables`;
      findings.push(errorAt(place, RULE, message));
    } else if (found.length === 0) {
      // A folder that is gone for a moment does not take its routes with it.
      const message = `no file, or more than ${MAX_GLOB_MATCHES}, matches "${pattern}"; write a pattern of existing files`;
      findings.push(errorAt(place, RULE, message));
    }
    for (const file of found) if (!files.has(file)) files.set(file, index);
  }
  if (files.size <= MAX_FILES) return files;
  findings.push(errorAt(['include'], RULE, `these are ${files.size} files; at most ${MAX_FILES} are read`));
  return new Map([...files].slice(0, MAX_FILES));
}

function isWithinFolder(pattern: string): boolean {
  return !/^\/|\\|\$\{|^[A-Za-z]:/.test(pattern) && !pattern.split('/').includes('..');
}

function readText(file: string, { readFile }: TrackedEnvironment): string | undefined {
  try {
    return readFile(file);
  } catch {
    return undefined;
  }
}

/** As the manifest beside it is shown: by the same way to its folder, or at the same revision of git. */
export function displayPathBeside(manifest: string, file: string): string {
  return manifest.slice(0, Math.max(manifest.lastIndexOf('/'), manifest.lastIndexOf(':')) + 1) + file;
}

function includedFileFindings({ value }: Document): Finding[] {
  // An empty file is one that is being written, or a mistake.
  if (!isMap(value) || Object.keys(value).length === 0)
    return [errorAt([], RULE, 'an included file holds upstreams, schemas or routes; this one holds none of them')];
  return Object.entries(value).flatMap(([key, held]) => {
    if (!isMergedKey(key))
      return [
        errorAtKey(
          [key],
          RULE,
          `"${key}" stands in the manifest itself; an included file holds ${MERGED_KEYS.join(', ')}`,
        ),
      ];
    if (key === 'routes' ? Array.isArray(held) : isMap(held)) return [];
    return [
      errorAt(
        [key],
        RULE,
        `"${key}" is ${key === 'routes' ? 'a list' : 'a map of names'}; write it as in the manifest`,
      ),
    ];
  });
}

function withFile(finding: Finding, file: string): Finding {
  const { location, related } = finding;
  return { ...finding, location: { ...location, file }, ...(related && { related: { file, ...related } }) };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
