import type { Log } from '../../engine/log/log.ts';
import { reportChanges, reportProblems } from '../../process/reload/reload-report.ts';
import type { ReloadOutcome } from '../../process/reload/reloader.ts';
import { formatChanges, formatProblems } from '../../report/text.ts';
import { type Streams, writeNote } from './streams.ts';

/** Limits the names of one kind in a log line. The summary counts all of them. */
const MAX_NAMES = 20;

/** Logs the outcome of a reload and prints it for a person. */
export function logReload(reload: ReloadOutcome, { log: { logger }, notes }: Streams, colour: boolean): void {
  const { cause, files, ms } = reload;
  const attempt = { cause, files: files.slice(0, MAX_NAMES), ms };
  if (reload.kind === 'accepted') {
    const { hash, oldHash: old_hash, summary, changes, keysNeedingRestart } = reload;
    logger.info({ hash, old_hash, summary, ...attempt, ...reportChanges(changes, MAX_NAMES) }, 'manifest reloaded');
    const keys = changes.needsRestart.filter((key) => keysNeedingRestart.includes(key));
    if (keys.length > 0) logger.warn({ keys }, 'these keys take effect only after a restart; restart the gateway');
    writeNote(notes, `${formatChanges(changes, files)}\n`);
  } else if (reload.kind === 'unreadable') {
    logger.error(
      { reason: reload.reason, ...attempt },
      'manifest cannot be read; the gateway keeps the active manifest',
    );
  } else if (reload.kind === 'rejected') {
    const problems = reportProblems(reload);
    logger.error({ problems, ...attempt }, 'manifest rejected; the gateway keeps the active manifest');
    writeNote(notes, formatProblems(reload.problems, reload.sources, colour));
  }
}

/** Logs that a requested reload changed nothing. */
export function logUnchanged({ kind, cause }: ReloadOutcome, { logger }: Log): void {
  if (kind === 'unchanged') logger.info({ cause }, 'manifest unchanged; nothing was reloaded');
}
