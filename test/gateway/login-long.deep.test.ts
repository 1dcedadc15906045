import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validationPool } from '../../src/engine/validation/request-rules.ts';
import { head, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { LOGIN_PATHS, type LoginSite, startLoginSite } from './login-site.ts';

let site: LoginSite;
let user: string;
let viewer: string;

beforeAll(async () => {
  site = await startLoginSite();
  ({ user, viewer } = site);
});

afterAll(() => site.close());

const hash = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

const responseTo = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  site.login(path, { body, headers });

/** A body that takes hundreds of milliseconds to search, because it has many layers of escapes. */
const COSTLY = '\\'.repeat(900_000);
const withToken = (token: string, filler: string) => JSON.stringify({ data: { access_token: token }, filler });

describe.each(LOGIN_PATHS)('a long login response (%s)', (path) => {
  it('is searched in another thread, unlike a short response', async () => {
    const { started } = validationPool.status;
    expect((await responseTo(path, withToken(user, 'a'.repeat(5_000)))).status).toBe(200);
    expect(validationPool.status.started).toBe(started);
    expect((await responseTo(path, withToken(user, 'a'.repeat(10_000)))).status).toBe(200);
    expect((await responseTo(path, withToken(user, COSTLY.slice(0, 400_000)))).status).toBe(200);
    expect(validationPool.status.started).toBe(started + 2);
  });

  it('is forwarded byte for byte, encoded or not, if the role is allowed', async () => {
    for (const length of [8_000, 9_000, 70_000, 140_000, 700_000]) {
      const filler = randomBytes(length / 2).toString('hex');
      const plain = Buffer.from(withToken(user, filler));
      const zipped = gzipSync(plain);
      expect(hash((await responseTo(path, plain)).body)).toBe(hash(plain));
      expect(hash((await responseTo(path, zipped, { 'Content-Encoding': 'gzip' })).body)).toBe(hash(zipped));
      const refused = await responseTo(path, gzipSync(withToken(viewer, filler)), { 'Content-Encoding': 'gzip' });
      expect([refused.status, refused.json().code]).toEqual([403, 'role_not_allowed']);
      expect((await responseTo(path, withToken(user, filler + viewer))).status).not.toBe(200);
      expect((await responseTo(path, withToken(user, filler), { 'X-Token': viewer })).status).toBe(403);
    }
  });
});

it('refuses a long login response that is not JSON with 502', async () => {
  const got = await responseTo('/pointer', 'x'.repeat(50_000));
  expect([got.status, got.json().code]).toEqual([502, 'login_response_refused']);
  expect(site.gateway.lines.at(-1)?.['reason']).toBe('login_response_not_json');
});

it('cancels the search and releases its memory when the client disconnects', async () => {
  site.respond = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(COSTLY);
  };
  const { abandoned } = validationPool.status;
  const wires = await Promise.all(Array.from({ length: 5 }, () => Wire.open(site.port)));
  for (const wire of wires) wire.write(head('POST /header HTTP/1.1'));
  await eventually('the searches wait', () => validationPool.status.waiting === 4);
  for (const wire of wires) wire.socket.destroy();
  await eventually(
    'no search is waiting or running',
    () => validationPool.status.waiting + validationPool.status.busy === 0,
  );
  expect(validationPool.status.abandoned).toBeGreaterThanOrEqual(abandoned + 4);
  expect((await responseTo('/pointer', withToken(user, 'a'.repeat(10_000)))).status).toBe(200);
});
