import { describe, expect, test } from 'vitest';
import { lintText } from './support.ts';

/** Returns the messages about the connections of an upstream. */
function messagesOf(workers: number | string, connections: string, env = {}): string[] {
  const text = `version: 1
server: { workers: ${workers} }
upstreams: { up: { url: http://127.0.0.1:9${connections} } }
routes: [{ id: one, method: GET, path: /one, upstream: up, access: public }]
`;
  return lintText(text, {}, env)
    .filter(({ rule }) => rule === 'upstream-connections-few')
    .map(({ message }) => message);
}

describe('upstream-connections-few', () => {
  test.each([
    [1, 1, 0],
    [2, 1, 1],
    [2, 2, 0],
    [64, 63, 1],
    [64, 64, 0],
    ["'8'", 7, 1],
    ['auto', 1, 0],
  ])('with %s workers and a limit of %i connections has %i findings', (workers, limit, count) => {
    expect(messagesOf(workers, `, connections: { limit: ${limit} }`)).toHaveLength(count);
  });

  test('has no finding with the default limit', () => {
    expect(messagesOf(64, '')).toEqual([]);
  });

  test('knows a number from the environment', () => {
    const [message] = messagesOf("'${WORKERS}'", ', connections: { limit: 3 }', { WORKERS: '12' });
    expect(message).toContain('write at least 12, or use fewer workers');
    expect(messagesOf("'${WORKERS}'", ', connections: { limit: 3 }', { WORKERS: 'auto' })).toEqual([]);
  });
});
