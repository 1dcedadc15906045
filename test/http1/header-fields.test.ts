import { expect, it } from 'vitest';
import { parseFields } from '../../src/engine/http1/message-head.ts';

it('keeps names apart that have equal lengths and equal first and last characters', () => {
  for (const name of ['Host', 'Hoot', 'HOST', 'host', 'hoot', 'Host']) {
    const { headers, known } = parseFields(`${name}: a\r\n`, 0);
    expect([headers, known.host]).toEqual([[name, 'a'], name.toLowerCase() === 'host' ? 'a' : undefined]);
  }
});

it('joins repeated headers, and marks those that servers disagree on', () => {
  const twice = (name: string) => parseFields(`${name}: a\r\n${name.toUpperCase()}:\t b \r\n`, 0);
  expect(twice('Via').known).toMatchObject({ via: 'a, b', isAmbiguous: false });
  for (const name of ['Host', 'Authorization', 'Content-Type', 'Content-Length', 'Transfer-Encoding'])
    expect(twice(name).known.isAmbiguous).toBe(true);
});
