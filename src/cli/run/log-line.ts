import { printable } from '../../problem/printable.ts';
import { paint } from '../format.ts';

const LEVELS: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** A line of the log as a person reads it: the time of day, what was asked and answered, and what else it tells. */
export function formatLogLine(json: string, colour: boolean): string {
  const { time, level, msg, ...others } = JSON.parse(json);
  const clock = paint(new Date(time).toISOString().slice(11, 23), 'dim', colour);
  if (msg === 'request') return `${clock} ${formatRequest(others, colour)}`;
  const rank = LEVELS[level];
  const told = rank === undefined ? msg : paint(`${rank}: ${msg}`, level > 40 ? 'red' : 'yellow', colour);
  return `${clock} ${told}${membersOf(others, colour)}`;
}

function formatRequest(
  { status, method = '', path = '', ms, ...others }: Record<string, unknown>,
  colour: boolean,
): string {
  const style = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  const code = status === undefined ? paint('---', 'red', colour) : paint(String(status), style, colour);
  const asked = `${String(method).padEnd(7)} ${printable(String(path))}`;
  // Where to look further; the rest repeats itself from line to line.
  const { route, refusal, reason, reported, aborted, retries, id } = others;
  return `${code} ${asked} ${ms} ms${membersOf({ route, refusal, reason, reported, aborted, retries, id }, colour)}`;
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
