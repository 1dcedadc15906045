import { posix } from 'node:path';
import { type Document, parse } from '../manifest/document.ts';
import { describeFileError, type Environment, fileErrorCode, type Source } from '../manifest/source.ts';
import type { Finding, Path } from '../problem/finding.ts';
import { isMap, referencePath } from './schema-walk.ts';

/** Returns the path in the root that a reference leads to, or a message about the reference. */
export function targetOf(reference: string, base: string | undefined): Path | string {
  const [written = '', fragment = ''] = reference.split('#', 2);
  const steps = fragment === '' ? [] : referencePath(`#${fragment}`);
  if (steps === undefined) return `"${reference}" has no JSON Pointer after the #; write one such as #/$defs/Name`;
  const file = decode(written);
  const path = file === '' ? base : posix.normalize(posix.join(posix.dirname(base ?? '.'), file));
  if (path === undefined || path.startsWith('..') || /^\/|\\/.test(file))
    return `"${reference}" is not a file beside the manifest or below it; write its relative path`;
  return ['files', path, ...steps];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A file with schemas, and the errors of its syntax. */
export interface SchemaFile {
  readonly source: Source;
  readonly document: Document;
  readonly findings: readonly Finding[];
}

/** Reads and parses a file with schemas; returns a message if it cannot be read. */
export function readSchemaFile(path: string, readFile: Environment['readFile']): SchemaFile | string {
  try {
    const source = { path, text: readFile(path) };
    return { source, ...parse(source) };
  } catch (error) {
    return `the file "${path}" cannot be read: ${describeFileError(fileErrorCode(error), 'the file that names it')}`;
  }
}

/** Removes the `$id` of a file. References here use paths, not ids. */
export function withoutId(value: unknown): unknown {
  if (!isMap(value) || typeof value['$id'] !== 'string') return value;
  const { $id: _name, ...others } = value;
  return others;
}
