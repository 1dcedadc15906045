import { load } from '../engine/load.ts';
import { type Problem, toProblems } from '../engine/problem/problem.ts';
import { manifestProblem, readTestFile } from '../prove/testing/read-test-file.ts';
import { findUnknownReferences } from '../prove/testing/unknown-references.ts';
import type { TextFile } from './text-file.ts';
import type { Workspace } from './workspace.ts';

/** Returns the problems that the verb `test` reports before it runs the cases of a test file. */
export function findTestFileProblems(file: TextFile, workspace: Workspace): readonly Problem[] {
  const { testFile, problems } = readTestFile(file);
  if (testFile === undefined) return problems;
  const [manifest = ''] = workspace.manifestsOf(file);
  const source = workspace.file(manifest);
  if (source === undefined) return manifestProblem(testFile, 'ENOENT');
  const planned = load(source, workspace.environmentOf(manifest, testFile.testFile.environment));
  // The problems of the manifest have their places there.
  if (planned.plan === undefined) return [];
  return toProblems(findUnknownReferences(testFile.testFile, planned), testFile.document);
}
