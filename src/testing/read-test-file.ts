import type { ValidateFunction } from 'ajv';
import { checkAgainst } from '../manifest/check.ts';
import { type Document, parse } from '../manifest/document.ts';
import type { Source } from '../manifest/source.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { hasErrors, type Problem, toProblems } from '../problem/problem.ts';
import type { TestFile } from './test-file.generated.ts';
import { validate as generated } from './validate.generated.ts';

const validate = generated as unknown as ValidateFunction;

/** A test file that was read: defaults are in. */
export interface CheckedTestFile {
  readonly testFile: TestFile;
  readonly document: Document;
}

/** Text to suite. What is wrong is told at its place, as for a manifest; then there is no suite. */
export function readTestFile(source: Source): { testFile?: CheckedTestFile; problems: readonly Problem[] } {
  const { document, findings: syntax } = parse(source);
  if (syntax.length > 0) return { problems: toProblems(syntax, document) };
  const { checked: testFile, findings } = checkAgainst<TestFile>(validate, {
    value: document.value,
    isSecret: () => false,
  });
  // What the schema has refused is no suite to look into.
  const all =
    findings.length > 0 ? findings : testFile.cases.flatMap(({ request }, index) => findExclusiveKeys(request, index));
  const problems = toProblems(all, document);
  return hasErrors(problems) ? { problems } : { testFile: { testFile, document }, problems };
}

const EXCLUSIVE_KEYS = [
  ['role', 'claims'],
  ['body', 'bodyBytes'],
] as const;

function findExclusiveKeys(request: TestFile['cases'][number]['request'], index: number): Finding[] {
  return EXCLUSIVE_KEYS.filter(([one, other]) => request[one] !== undefined && request[other] !== undefined).map(
    ([one, other]) => {
      const message = `"${one}" and "${other}" both stand here; write one of them`;
      return errorAtKey(['cases', index, 'request', other], 'case-conflict', message);
    },
  );
}
