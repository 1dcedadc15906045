import type { PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import { runMutants } from '../../prove/mutation/run-mutants.ts';
import type { TestResult } from '../../prove/testing/run-test-file.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';
import type { Terminal } from '../terminal.ts';
import { createMutationReport, type MutationReport } from './mutation-report.ts';

interface MutatedFiles {
  readonly testFile: { readonly testFile: TestFile };
  readonly planned: PlannedManifest;
  readonly readFile: Environment['readFile'];
}

/** More frequent updates would cost time and flicker. */
const PROGRESS_INTERVAL_MS = 100;
const CLEAR_LINE = '\r\x1b[K';

/**
 * Tests the changed manifests, and shows the progress on a terminal. Ends after `maxMs`, or when the process must stop, with the
 * result so far.
 */
export async function mutate(
  { testFile, planned, readFile }: MutatedFiles,
  results: readonly TestResult[],
  maxMs: number,
  { err, errIsTerminal, stop }: Terminal,
): Promise<MutationReport> {
  let shownAt = Number.NEGATIVE_INFINITY;
  const showProgress = (done: number, total: number) => {
    const now = performance.now();
    if (!errIsTerminal || now - shownAt < PROGRESS_INTERVAL_MS) return;
    shownAt = now;
    err(`${CLEAR_LINE}changing the manifest: ${done} of ${total}`);
  };
  const signal = AbortSignal.any([stop, AbortSignal.timeout(maxMs)]);
  const result = await runMutants(testFile.testFile, planned, results, readFile, signal, showProgress);
  if (errIsTerminal) err(CLEAR_LINE);
  return createMutationReport(result, planned.document, stop.aborted);
}
