import { posix } from 'node:path';
import { type Document, parse } from '../../manifest/document.ts';
import { describeFileError, type Environment, fileErrorCode } from '../../manifest/source.ts';
import type { Path } from '../../problem/finding.ts';
import { toProblems } from '../../problem/problem.ts';
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

/** Reads the schemas of a file; returns `undefined` if it cannot be read or parsed. */
export function readSchemaFile(
  file: string,
  readFile: Environment['readFile'],
  report: (message: string) => void,
): Document | undefined {
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    const reason = describeFileError(fileErrorCode(error), 'the file that names it');
    report(`the file "${file}" cannot be read: ${reason}`);
    return undefined;
  }
  const { document, findings } = parse({ path: file, text });
  const [problem] = toProblems(findings, document);
  if (problem === undefined) return document;
  report(`in ${file} at line ${problem.range.line}: ${problem.message}`);
  return undefined;
}

/** Removes the `$id` of a file. References here use paths, not ids. */
export function withoutId(value: unknown): unknown {
  if (!isMap(value) || typeof value['$id'] !== 'string') return value;
  const { $id: _name, ...others } = value;
  return others;
}
