import { displayPathBeside } from '../problem/display-path.ts';
import { errorAt, type Finding } from '../problem/finding.ts';
import type { TrackedEnvironment } from './dependencies.ts';
import type { Document, DocumentParser } from './document.ts';
import { readNamedFile, withFile } from './named-file.ts';
import { describeFileError, type Source } from './source.ts';
import { isMap } from './yaml-kinds.ts';

const RULE = 'include';

/**
 * Parses the files with invariants: the one that the manifest names, then those of the environment. They may be outside of the
 * manifest's folder. Reports files that cannot be read or have another form.
 */
export function readInvariantFiles(
  main: { readonly source: Source; readonly document: Document },
  environment: TrackedEnvironment,
  parseText: DocumentParser,
  findings: Finding[],
): Document[] {
  const named = invariantsFileOf(main.document);
  const files = [...(named === undefined ? [] : [named]), ...(environment.invariantFiles ?? [])];
  return files.flatMap((file) => {
    const read = readNamedFile(file, environment);
    if (typeof read !== 'string') {
      const message = `the file "${file}" cannot be read: ${describeFileError(read.code)}`;
      findings.push(errorAt(file === named ? ['invariants', 'file'] : [], RULE, message));
      return [];
    }
    const parsed = parseText({ path: displayPathBeside(main.source.path, file), text: read });
    const { document, findings: syntax } = parsed;
    for (const finding of syntax.length > 0 ? syntax : formFindings(document))
      findings.push(withFile(finding, document.file));
    return [document];
  });
}

/** Returns the file of `invariants: { file }`. */
function invariantsFileOf({ value }: Document): string | undefined {
  const invariants = isMap(value) ? value['invariants'] : undefined;
  const file = isMap(invariants) ? invariants['file'] : undefined;
  return typeof file === 'string' && file !== '' ? file : undefined;
}

function formFindings({ value }: Document): Finding[] {
  const isValid = isMap(value) && Array.isArray(value['invariants']) && Object.keys(value).length === 1;
  return isValid ? [] : [errorAt([], RULE, 'this file must have one key, "invariants", with a list; remove the rest')];
}
