import type { LoggedRequest } from './logged-request.ts';
import { type JsonObject, readRequest, type SkippedLine } from './read-request.ts';

/**
 * Parses a line of an access log. Container engines and journald write a prefix before the JSON, or put the line into a member of
 * their own JSON.
 *
 * @param number the number of the line in the log, from 1
 */
export function parseLogLine(text: string, source: string, number: number): LoggedRequest | SkippedLine {
  const start = text.indexOf('{');
  if (start === -1) return { reason: text.trim() === '' ? 'blank' : 'not-json' };
  const json = start === 0 ? text : text.slice(start);
  const value = unwrap(parseObject(json));
  if (value === undefined) return { reason: json.trimEnd().endsWith('}') ? 'not-json' : 'truncated' };
  const message = value['msg'];
  if (message === 'request') return readRequest(value, source, number);
  return { reason: typeof message === 'string' && typeof value['level'] === 'number' ? 'other-message' : 'foreign' };
}

/** The members in which Docker and journald put a line. */
const WRAPPERS = ['log', 'MESSAGE'];

/** Returns the JSON object in a line that a container engine or journald wrote. */
function unwrap(value: JsonObject | undefined): JsonObject | undefined {
  if (value === undefined || typeof value['msg'] === 'string') return value;
  const inner = WRAPPERS.map((name) => value[name]).find((text) => typeof text === 'string');
  const start = inner?.indexOf('{') ?? -1;
  return (start === -1 ? undefined : parseObject(inner?.slice(start) ?? '')) ?? value;
}

/** Returns `undefined` if the text is not valid. The text begins with a brace, so any other value is an object. */
function parseObject(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
