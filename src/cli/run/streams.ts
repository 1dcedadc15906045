import { createProcessLog, type Log, type ProcessLog } from '../../engine/log/log.ts';
import type { Terminal } from '../terminal.ts';
import { formatLogLine } from './log-line.ts';

/** The log on standard output, and notes on standard error. Another thread writes both: a full pipe would block this one. */
export interface Streams {
  readonly log: ProcessLog;
  readonly notes: ProcessLog;
}

export function openStreams(terminal: Terminal): Streams {
  const format = terminal.outIsTerminal ? (json: string) => formatLogLine(json, terminal.outColour) : undefined;
  const log = createProcessLog(1, format, (code) =>
    writeNote(notes, `signing-gateway: cannot write the log to standard output: ${code}\n`),
  );
  const notes = createProcessLog(2, undefined, (code) =>
    log.logger.error({ code }, 'standard error cannot be written'),
  );
  terminal.onAbruptExit((error) => {
    if (error !== undefined) log.logger.fatal({ err: error }, 'the process exits after an unexpected error');
    log.flush();
    notes.flush();
  });
  return { log, notes };
}

export function writeNote(notes: Log, text: string): void {
  if (text !== '') notes.writeLine(text.replace(/\n$/, ''));
}
