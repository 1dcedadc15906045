import type { Log } from '../../engine/log/log.ts';
import { printable } from '../../engine/problem/problem.ts';
import { createProcessLog } from '../../process/log/process-log.ts';
import { paint } from '../../report/text.ts';
import type { Terminal } from '../terminal.ts';

/** The log on standard output, and notes on standard error. Another thread writes both: a full pipe would block this one. */
export type Streams = ReturnType<typeof openStreams>;

export function openStreams(terminal: Terminal) {
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

const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** Formats a log line for a person: the time of day, the request and its status or the message, then other members. */
export function formatLogLine(json: string, colour: boolean): string {
  const { time, level, msg, ...others } = JSON.parse(json);
  const clock = paint(new Date(time).toISOString().slice(11, 23), 'dim', colour);
  if (msg === 'request') return `${clock} ${formatRequest(others, colour)}`;
  const rank = LEVELS[level];
  const message = rank === undefined ? msg : paint(`${rank}: ${msg}`, level > 40 ? 'red' : 'yellow', colour);
  return `${clock} ${message}${membersOf(others, colour)}`;
}

function formatRequest({ status, method = '', path = '', ms, ...others }: Record<string, unknown>, colour: boolean) {
  const style = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  const code = status === undefined ? paint('---', 'red', colour) : paint(String(status), style, colour);
  const request = `${String(method).padEnd(7)} ${printable(String(path))}`;
  // Print only the members that help to find the cause of a refusal or an error: of those for replays, the role and the kind.
  const { keyed, route, refusal, reason, reported, aborted, retries, role, kind, id } = others;
  const members = { keyed, route, refusal, reason, reported, aborted, retries, role: listOf(role), kind, id };
  return `${code} ${request} ${ms} ms${membersOf(members, colour)}`;
}

function listOf(value: unknown): unknown {
  return Array.isArray(value) ? value.join(',') : value;
}

function membersOf(members: Record<string, unknown>, colour: boolean): string {
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return ` ${paint(`${name}=`, 'dim', colour)}${printable(text)}`;
    })
    .join('');
}
