import { printable } from '../../engine/problem/printable.ts';
import { paint } from '../../report/text.ts';

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

function formatRequest(
  { status, method = '', path = '', ms, ...others }: Record<string, unknown>,
  colour: boolean,
): string {
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
