import { reportProblems } from '../../process/reload/reload-report.ts';
import type { ReloadOutcome } from '../../process/reload/reloader.ts';
import { formatProblems } from '../../report/text.ts';
import { type Streams, writeNote } from './streams.ts';

/** Logs that a candidate was loaded or rejected, and prints its problems for a person. */
export function logCandidate(
  file: string,
  outcome: ReloadOutcome,
  { log: { logger }, notes }: Streams,
  colour: boolean,
): void {
  if (outcome.kind === 'accepted') {
    const { hash, summary } = outcome;
    logger.info({ file, hash, summary }, 'candidate loaded; the gateway compares requests with it');
  } else if (outcome.kind === 'unreadable') {
    logger.error({ file, reason: outcome.reason }, 'candidate cannot be read');
  } else if (outcome.kind === 'rejected') {
    logger.error({ file, problems: reportProblems(outcome) }, 'candidate rejected');
    writeNote(notes, formatProblems(outcome.problems, outcome.sources, colour));
  }
}
