import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { cases, runs } from '../support/runs.ts';
import { FRAMING } from './corpus/framing.ts';
import { HEADERS } from './corpus/headers.ts';
import { PATHS } from './corpus/paths.ts';
import { type Lane, type LaneResult, startLane, uncaughtErrors } from './lane.ts';
import { applyMutations, MUTATIONS } from './mutate.ts';
import { accessOf } from './reference.ts';
import { type StrictHead, type StrictMessage, strictValues } from './strict.ts';

/** The number of mutants. Add a mutant that fails to the corpus. */
const MUTANTS = 480;
const LANES = 12;

const BYTES = [...PATHS, ...FRAMING, ...HEADERS]
  .map(({ bytes }) => (typeof bytes === 'string' ? bytes : bytes.join('')))
  .filter(({ length }) => length < 3_000);

let issuer: Issuer;
let token: string;
let guest: string;
let lanes: Lane[];

beforeAll(async () => {
  issuer = await startIssuer();
  token = await issuer.token();
  guest = await issuer.token({ company_role: 'guest' });
  lanes = await Promise.all(Array.from({ length: LANES }, () => startLane(issuer)));
});

afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await issuer.close();
});

const MUTANT = fc
  .tuple(fc.constantFrom(...BYTES), fc.constantFrom(...BYTES), MUTATIONS)
  .map(([bytes, other, mutations]) => applyMutations(bytes, other, mutations));

describe('the gateway, given mutated attacks,', () => {
  it('forwards only requests that match a route and are authorized', async () => {
    let forwarded = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(MUTANT, { minLength: 1, maxLength: LANES, size: 'max' }), async (mutants) => {
        const results = await Promise.all(mutants.map((bytes, index) => exchange(lanes[index] as Lane, bytes)));
        forwarded += results.reduce((sum, { requests }) => sum + requests.length, 0);
        expect(results.flatMap(findViolations)).toEqual([]);
        expect(uncaughtErrors).toEqual([]);
      }),
      // A run uses half of the lanes on average.
      { numRuns: runs((2 * MUTANTS) / LANES) },
    );
    expect(forwarded).toBeGreaterThan(cases(MUTANTS) / 50);
  });
});

function exchange(lane: Lane, bytes: string): Promise<LaneResult> {
  const filled = bytes.replaceAll('{{token}}', token).replaceAll('{{guest}}', guest);
  return lane.exchange(filled, { methods: undefined, mustClose: false });
}

/** Returns violations of the invariant: the upstream receives only requests that are public or carry the token. */
function findViolations({ errors, requests, abortedRequests }: LaneResult): string[] {
  const unauthorized = [...requests, ...abortedRequests].filter((head) => !isAllowed(head)).map(({ line }) => line);
  const invalid = requests.filter((message) => message.line.startsWith('POST /schema') && !isObject(message));
  return [...errors, ...unauthorized, ...invalid.map(({ body }) => `a body that violates its schema: ${body}`)];
}

function isAllowed(head: StrictHead): boolean {
  const [method = '', target = ''] = head.line.split(' ');
  const access = accessOf(method, target);
  const [authorization = '', ...more] = strictValues(head, 'authorization');
  const isBearer = /^bearer /i.test(authorization) && authorization.slice(7) === token && more.length === 0;
  return access === 'public' || (access === 'protected' && isBearer);
}

function isObject({ body }: StrictMessage): boolean {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

describe('the access reference', () => {
  it.each([
    ['GET', '/public/x', 'public'],
    ['GET', '/files/x?/files/secret', 'public'],
    ['GET', '/files/secret', 'protected'],
    ['GET', '/files/SECRET.', 'protected'],
    ['GET', '/files/secret;x', 'protected'],
    ['GET', '/files/x/../secret', 'protected'],
    ['GET', '/files/x/..;/secret', 'protected'],
    ['GET', '/files/%2573ecret', 'protected'],
    ['GET', '/files/secret%3fx', 'protected'],
    ['GET', '/files/7;a/keys/', 'protected'],
    ['GET', '/public/%2e%2e/admin', 'protected'],
    ['GET', '/kept/a%2Fb', 'public'],
    ['GET', '/kept/secret%2fb', 'protected'],
    ['GET', '/kept/a%2f..%2fsecret', 'protected'],
    ['GET', '/kept/7%2fkeys', 'protected'],
    ['GET', '/files/a%2fb', 'none'],
    ['GET', '/nowhere', 'none'],
    ['POST', '/read', 'none'],
    ['TRACE', '/admin', 'none'],
  ])('returns the access of %s %s: %s', (method, target, access) => {
    expect(accessOf(method, target)).toBe(access);
  });
});
