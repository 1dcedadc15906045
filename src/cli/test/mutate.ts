import type { PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import { runMutants } from '../../prove/mutation/run-mutants.ts';
import type { TestResult } from '../../prove/testing/run-test-file.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';
import { showProgress } from '../logs/read-progress.ts';
import type { Terminal } from '../terminal.ts';
import { createMutationReport, type MutationReport } from './mutation-report.ts';

interface MutatedFiles {
  readonly testFile: { readonly testFile: TestFile };
  readonly planned: PlannedManifest;
  readonly readFile: Environment['readFile'];
}

/**
 * Tests the changed manifests, and shows the progress on a terminal. Ends after `maxMs`, or when the process must stop, with the
 * result so far.
 */
export async function mutate(
  { testFile, planned, readFile }: MutatedFiles,
  results: readonly TestResult[],
  maxMs: number,
  terminal: Terminal,
): Promise<MutationReport> {
  const progress = showProgress(terminal);
  const signal = AbortSignal.any([terminal.stop, AbortSignal.timeout(maxMs)]);
  const onProgress = progress.working('changing the manifest');
  const result = await runMutants(testFile.testFile, planned, results, readFile, signal, onProgress);
  progress.end();
  return createMutationReport(result, planned.document, terminal.stop.aborted);
}
