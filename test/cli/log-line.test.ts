import { describe, expect, it } from 'vitest';
import { formatLogLine } from '../../src/cli/run/streams.ts';

const line = (members: object) => JSON.stringify({ level: 30, time: 1_767_225_600_000, ...members });

describe('formatLogLine', () => {
  it('formats the method, path, status and cause of a request', () => {
    const request = {
      msg: 'request',
      id: 'i-1',
      trace: 't-1',
      method: 'GET',
      path: '/a',
      route: 'a',
      status: 200,
      ms: 1.5,
    };
    expect(formatLogLine(line(request), false)).toBe('00:00:00.000 200 GET     /a 1.5 ms route=a id=i-1');
    expect(formatLogLine(line({ ...request, keyed: true }), false)).toBe(
      '00:00:00.000 200 GET     /a 1.5 ms keyed=true route=a id=i-1',
    );
    const refused = { ...request, status: 403, refusal: 'role_not_allowed', reason: 'role_not_allowed' };
    expect(formatLogLine(line(refused), false)).toBe(
      '00:00:00.000 403 GET     /a 1.5 ms route=a refusal=role_not_allowed reason=role_not_allowed id=i-1',
    );
    expect(formatLogLine(line({ msg: 'request', id: 'i-1', ms: 2, aborted: true }), false)).toBe(
      '00:00:00.000 ---          2 ms aborted=true id=i-1',
    );
  });

  it('shows the role and the kind of a request, but no other fact for replays', () => {
    const facts = { manifest: '0123456789abcdef', credential: 'bearer', type: 'text/csv', query: ['a'], host: 'h' };
    const request = { msg: 'request', id: 'i-1', method: 'GET', path: '/a', status: 200, ms: 1, ...facts };
    const text = (members: object) => formatLogLine(line({ ...request, ...members }), false);
    expect(text({ role: ['admin', 'user'] })).toBe('00:00:00.000 200 GET     /a 1 ms role=admin,user id=i-1');
    expect(text({ role: 'other', kind: 'websocket' })).toBe(
      '00:00:00.000 200 GET     /a 1 ms role=other kind=websocket id=i-1',
    );
  });

  it('formats the level, message and members of other lines', () => {
    expect(formatLogLine(line({ level: 50, msg: 'it broke', problems: ['a'] }), false)).toBe(
      '00:00:00.000 error: it broke problems=["a"]',
    );
  });

  it('removes the control characters of clients', () => {
    const text = formatLogLine(
      line({ msg: 'request', method: 'GET', path: '/\u001b[2J', reason: '\u009b31m', ms: 1 }),
      false,
    );
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(formatLogLine(line({ msg: 'x', level: 40 }), true)).toContain('\u001b[33m');
  });
});
