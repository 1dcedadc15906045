import { describe, expect, it } from 'vitest';
import { parseLogLine } from '../../../src/traffic/access-log/logged-request.ts';

const REQUEST = {
  level: 30,
  time: 1_767_225_600_000,
  msg: 'request',
  id: '8f14e45f-ceea-467f-9575-7c3a1f2d9b10',
  method: 'GET',
  path: '/settings',
  route: 'settings',
  upstream: 'up',
  subject: '5f0c1e7a94b2d386',
  status: 403,
  decision: 'refused',
  refusal: 'role_not_allowed',
  reason: 'role_not_allowed',
  required: ['admin'],
  bytesOut: 240,
  ms: 0.412,
  peer: '127.0.0.1',
};

const parse = (text: string) => parseLogLine(text, 'gateway.log', 7);
const line = (members: Readonly<Record<string, unknown>> = {}) => JSON.stringify({ ...REQUEST, ...members });
const parsed = parse(line());

describe('a line of the access log', () => {
  it('becomes a logged request with the number of the line', () => {
    expect(parsed).toEqual({
      source: 'gateway.log',
      line: 7,
      time: 1_767_225_600_000,
      method: 'GET',
      path: '/settings',
      isKeyed: false,
      route: 'settings',
      upstream: 'up',
      status: 403,
      refusal: 'role_not_allowed',
      reason: 'role_not_allowed',
      reported: [],
      isAborted: false,
      receivedBytes: 0,
      isForwarded: false,
      subject: '5f0c1e7a94b2d386',
      client: '127.0.0.1',
      weight: 1,
    });
  });

  it('says that its path has surrogates', () => {
    expect(parse(line({ keyed: true }))).toMatchObject({ isKeyed: true });
    expect(parse(line({ keyed: 'yes' }))).toEqual({ reason: 'member-invalid', member: 'keyed' });
  });

  it('has the members of log.replay', () => {
    const members = {
      gatewayMs: 0.2,
      aborted: true,
      bytesIn: 12,
      reported: [{ code: 'body_invalid', pointers: ['/email'] }],
      client: '192.0.2.1',
      manifest: '0123456789abcdef',
      role: ['admin', 'user'],
      credential: 'bearer',
      type: 'application/json',
      query: ['page', '*'],
      host: 'api.example.com',
      kind: 'websocket',
      sampled: 0.1,
    };
    expect(parse(line(members))).toMatchObject({
      isForwarded: true,
      isAborted: true,
      receivedBytes: 12,
      reported: ['body_invalid'],
      client: '192.0.2.1',
      manifest: '0123456789abcdef',
      roles: ['admin', 'user'],
      credential: 'bearer',
      mediaType: 'application/json',
      queryNames: ['page', '*'],
      host: 'api.example.com',
      kind: 'websocket',
      weight: 10,
    });
  });

  it.each([
    ['admin', ['admin']],
    ['other', []],
    [[], []],
    [['admin'], ['admin']],
  ])('with the role %j has the roles %j', (role, roles) => {
    expect(parse(line({ role }))).toMatchObject({ roles });
  });

  it('may lack each member that does not apply, and has no address for a connection that ended early', () => {
    const unparsed = `{"level":30,"time":5,"msg":"request","id":"1","status":400,"decision":"refused","refusal":"message_malformed","reason":"x","peer":null}`;
    expect(parse(unparsed)).toMatchObject({
      time: 5,
      method: undefined,
      path: undefined,
      client: undefined,
      status: 400,
    });
  });
});

describe('a prefix of a container engine or of journald', () => {
  it.each([
    ['docker compose logs', 'gateway-1  | '],
    ['docker compose logs in colour', '\u001b[36mgateway-1  |\u001b[0m '],
    ['docker compose logs --timestamps', 'gateway-1  | 2026-01-01T00:00:00.000000000Z '],
    ['kubectl logs --prefix', '[pod/gateway-7d9c/gateway] '],
    ['kubectl logs --timestamps', '2026-01-01T00:00:00.000000000Z '],
    ['containerd', '2026-01-01T00:00:00.000000000Z stdout F '],
    ['journalctl', 'Jan 01 00:00:00 host signing-gateway[123]: '],
    ['a byte order mark', '\ufeff'],
  ])('is skipped: %s', (_name, prefix) => {
    expect(parse(`${prefix}${line()}\r`)).toEqual(parsed);
  });

  it.each([
    ['the files of Docker', { log: `${line()}\n`, stream: 'stdout', time: '2026-01-01T00:00:00Z' }],
    ['journalctl -o json', { MESSAGE: line(), PRIORITY: '6' }],
    ['journald with a prefix', { MESSAGE: `gateway: ${line()}` }],
  ])('may be JSON: %s', (_name, wrapper) => {
    expect(parse(JSON.stringify(wrapper))).toEqual(parsed);
  });
});

describe('a line that is no request', () => {
  it.each([
    ['blank', ''],
    ['blank', ' \r'],
    ['not-json', 'listening on 8080'],
    ['not-json', 'text {not json}'],
    ['not-json', '"request"'],
    ['truncated', line().slice(0, -1)],
    ['truncated', line().slice(0, 40)],
    ['truncated', '{'],
    ['foreign', '{}'],
    ['foreign', '{"msg":"ready"}'],
    ['foreign', '{"level":"info","msg":"ready"}'],
    ['foreign', '{"msg":["request"],"level":30}'],
    ['foreign', '{"log":"no json","stream":"stdout"}'],
    ['foreign', '{"log":{"msg":"request"}}'],
    ['foreign', '{"__proto__":{"msg":"request","time":1}}'],
    ['other-message', '{"level":30,"time":1,"msg":"listening"}'],
    ['other-message', JSON.stringify({ log: '{"level":30,"time":1,"msg":"listening"}' })],
    ['foreign', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('is skipped as %s: %.40s', (reason, text) => {
    expect(parse(text)).toEqual({ reason });
  });

  it.each([
    ['time', undefined],
    ['time', '1767225600000'],
    ['time', -1],
    ['time', 1.5],
    ['time', 9e15],
    ['method', 'GET /'],
    ['method', 1],
    ['path', 'settings'],
    ['path', '/a b'],
    ['path', '/a?token=1'],
    ['path', '/\u001b[31m'],
    ['path', '/\u00fc'],
    ['path', { toString: '/a' }],
    ['route', 7],
    ['route', 'a\nb'],
    ['upstream', '\u202e'],
    ['status', '200'],
    ['status', 1e3],
    ['refusal', {}],
    ['reason', null],
    ['reported', 'body_invalid'],
    ['reported', [null]],
    ['reported', [{ pointers: [] }]],
    ['aborted', 'true'],
    ['bytesIn', -1],
    ['gatewayMs', '1'],
    ['subject', 5],
    ['peer', 5],
    ['sampled', 0],
    ['sampled', 1.1],
    ['sampled', 1e-9],
    ['sampled', '1'],
    ['manifest', []],
    ['role', 5],
    ['role', [5]],
    ['role', 'a\u0000'],
    ['credential', 'basic'],
    ['credential', 'toString'],
    ['type', 5],
    ['query', 'page'],
    ['query', [['page']]],
    ['host', []],
    ['kind', 'tunnel'],
  ])('has an invalid member: %s %j', (member, value) => {
    expect(parse(line({ [member]: value }))).toEqual({ reason: 'member-invalid', member });
  });

  it('has a number that no number can hold', () => {
    expect(parse(line().replace('1767225600000', '1e999'))).toEqual({ reason: 'member-invalid', member: 'time' });
  });
});
