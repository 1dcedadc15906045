import type { Planned } from '../load.ts';
import { claimsOfRole } from '../offline/claims.ts';
import { createOffline, type Outcome } from '../offline/offline.ts';
import { shownUrl } from '../offline/shown-url.ts';
import { type Claims, type Stated, StatedTokens } from '../offline/stated-tokens.ts';
import { compare, type Mismatch } from './compare.ts';
import { answerOf, askedBy, type Trial, trialsOf } from './requests.ts';
import type { Suite, Token } from './suite.generated.ts';

export interface Result extends Trial {
  readonly outcome: Outcome;
  /** Empty: it passed. */
  readonly mismatches: readonly Mismatch[];
  readonly ms: number;
}

/** Asks the gateway of a manifest everything that a suite asks, without a network. The suite must fit the manifest. */
export async function runSuite(suite: Suite, loaded: Planned): Promise<Result[]> {
  const tokens = new StatedTokens();
  const role = loaded.manifest.auth?.role;
  const claimsOf = (name: string): Claims => (role === undefined ? {} : claimsOfRole(role, name));
  for (const [text, token] of Object.entries(suite.tokens)) tokens.state(text, statedOf(token, claimsOf));
  const ask = createOffline(loaded.plan, tokens);
  const results: Result[] = [];
  for (const trial of trialsOf(suite.cases)) {
    const { written, role } = trial;
    const claims = role === undefined ? written.request.claims : claimsOf(role);
    if (claims !== undefined) tokens.state(CALLER, { claims });
    const asked = askedBy(written);
    const authorization = claims === undefined ? [] : ['Authorization', `Bearer ${CALLER}`];
    const start = performance.now();
    const outcome = await ask({ ...asked, headers: [...asked.headers, ...authorization] }, answerOf(written.answer));
    const mismatches = compare(written.expect, outcome, loaded.plan).map((mismatch) =>
      shown(mismatch, outcome, loaded),
    );
    results.push({ ...trial, outcome, mismatches, ms: performance.now() - start });
  }
  return results;
}

/** A mismatch without values from the environment. */
function shown(mismatch: Mismatch, { decision, received }: Outcome, loaded: Planned): Mismatch {
  const { at, expected, got } = mismatch;
  const isUrl = at[0] === 'upstream' && (at.length === 1 || at[1] === 'url') && typeof got === 'string';
  if (!isUrl || received === undefined) return { ...mismatch, got: redacted(got, loaded.secrets.redact) };
  const { origin, path } = shownUrl(loaded, decision.route, received);
  return { ...mismatch, got: typeof expected === 'string' && expected.startsWith('/') ? path : origin + path };
}

/** A value with texts in it, none of which holds a value from the environment. */
function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redacted(item, redact)]));
}

/** The caller's token, which is no token's text in a suite. */
const CALLER = '<token>';

function statedOf({ role, claims, fault }: Token, claimsOf: (role: string) => Claims): Stated {
  if (fault !== undefined) return { fault };
  return { claims: role === undefined ? (claims ?? {}) : claimsOf(role) };
}
