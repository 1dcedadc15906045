import { deepEqual, equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { formatText } from '../../../src/check/fmt/format-text.ts';
import { lint } from '../../../src/check/lint/lint.ts';
import { accessLogLine } from '../../../src/engine/gateway/telemetry/access-log.ts';
import { formatFlow } from '../../../src/engine/manifest/flow-yaml.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { FOLDABLE } from '../../../src/engine/routing/path-folding.ts';
import { createOfflineGateway, type OfflineOutcome } from '../../../src/prove/offline/offline-gateway.ts';
import { StubVerifier } from '../../../src/prove/offline/stub-verifier.ts';
import { type AnyManifest, anyUrl, matchingUrl } from '../../support/any-manifest.ts';
import { filesAfter, idsOf, loadText, textAfter, tightenText } from './support.ts';

const ROLES = ['admin', 'user', 'guest', undefined] as const;

export interface AnyRequest {
  readonly method: string;
  readonly url: (manifest: AnyManifest) => string;
  readonly role: (typeof ROLES)[number];
  readonly headers: readonly string[];
  readonly body: string | undefined;
}

export const anyRequest: fc.Arbitrary<AnyRequest> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'),
  url: fc.oneof({ weight: 3, arbitrary: matchingUrl }, { weight: 1, arbitrary: anyUrl.map((url) => () => url) }),
  role: fc.constantFrom(...ROLES),
  headers: fc.constantFrom<readonly string[]>(
    [],
    ['Content-Type', 'application/json'],
    ['Content-Type', 'text/csv'],
    ['X-Tenant', 'one'],
  ),
  body: fc.constantFrom(undefined, '{"a":1,"b":"xx"}', 'a,b\n1,2\n'),
});

type Send = (request: AnyRequest, manifest: AnyManifest) => Promise<OfflineOutcome>;

/** Returns a function that sends requests to the gateway of a plan, offline. */
function senderOf(plan: Plan): Send {
  const tokens = new StubVerifier();
  for (const role of ROLES)
    if (role !== undefined) tokens.setToken(role, { claims: { sub: role, company_role: role } });
  const send = createOfflineGateway(plan, tokens);
  return async ({ method, url, role, headers, body }, manifest) =>
    send({
      method,
      target: url(manifest),
      headers: [...headers, ...(role === undefined ? [] : ['Authorization', `Bearer ${role}`])],
      body: body === undefined || method === 'GET' || method === 'HEAD' ? undefined : Buffer.from(body),
    });
}

const isAllowed = ({ record }: OfflineOutcome) => record.refusal === undefined;

/** Returns the line of a request, with the members of `log.replay` that the engine reads. */
function lineOf({ record, principals }: OfflineOutcome, hash: string, { role, headers }: AnyRequest): string {
  const line = JSON.parse(accessLogLine(record, 1));
  const verified = role === 'guest' ? 'other' : role;
  const [, type] = headers[0] === 'Content-Type' ? headers : [];
  return JSON.stringify({
    ...line,
    manifest: hash.slice(0, 16),
    role: principals.length > 0 ? verified : undefined,
    credential: role === undefined ? 'none' : 'bearer',
    type,
  });
}

export const anyStyle = fc.constantFrom('block', 'flow', 'json', 'included');

const INCLUDED = 'more.yaml';

/** Returns the texts of a manifest: in the style `included`, an included file has every second route. */
function writeFiles(
  manifest: AnyManifest,
  style: string,
): { readonly text: string; readonly files: Record<string, string> } {
  if (style !== 'included') return { text: writeManifest(manifest, style), files: {} };
  const own = manifest.routes.filter((_, index) => index % 2 === 0);
  const rest = manifest.routes.filter((_, index) => index % 2 === 1);
  if (rest.length === 0) return { text: writeManifest(manifest, 'block'), files: {} };
  const { upstreams, ...main } = manifest;
  const included = { upstreams, routes: rest } as unknown as AnyManifest;
  const text = writeManifest({ ...main, include: INCLUDED, routes: own } as unknown as AnyManifest, 'block');
  return { text, files: { [INCLUDED]: writeManifest(included, 'flow') } };
}

/** Writes a manifest as a person may, with comments. */
function writeManifest(manifest: AnyManifest, style: string): string {
  if (style === 'json') return JSON.stringify(manifest, null, 2);
  const { routes, ...rest } = manifest;
  const head = Object.entries(rest).map(([key, value]) =>
    typeof value === 'object' && value !== null && style === 'block'
      ? `${key}:\n${Object.entries(value)
          .map(([name, member]) => `  # about ${name}\n  ${name}: ${formatFlow(member)}\n`)
          .join('')}`
      : `${key}: ${formatFlow(value)}\n`,
  );
  const entries = routes.map((entry) => {
    if (style === 'flow') return `  # note of ${entry['id']}\n  - ${formatFlow(entry)} # end of ${entry['id']}\n`;
    const members = Object.entries(entry).filter(([, value]) => value !== undefined);
    const lines = members.map(([key, value], index) => {
      const isList = Array.isArray(value) && value.every((item) => typeof item === 'string') && key !== 'rateLimits';
      const text = isList
        ? `\n${value.map((item) => `      - ${item}\n`).join('')}`
        : ` ${formatFlow(value)} # ${entry['id']} ${key}\n`;
      return `${index === 0 ? '  - ' : '    '}${key}:${text}`;
    });
    return `  # note of ${entry['id']}\n${lines.join('')}\n`;
  });
  return formatText(`# the first line\n${head.join('')}\nroutes:\n${entries.join('')}`);
}

/** A manifest as it is written, and the requests of its log. */
export interface TightenCase {
  readonly manifest: AnyManifest;
  readonly style: string;
  /** The requests in the log. */
  readonly requests: readonly AnyRequest[];
  /** Requests that are not in the log. */
  readonly others: readonly AnyRequest[];
}

/**
 * Serves requests by a manifest, proposes by the log, and serves the same and other requests by the result. Throws if the result has
 * errors, refuses a request that was allowed, allows one that was refused, or leaves something to propose.
 *
 * @returns the ids of the proposals
 */
export async function checkProposals({ manifest, style, requests, others }: TightenCase): Promise<readonly string[]> {
  const { text, files } = writeFiles(manifest, style);
  const before = loadIfValid(text, files);
  if (before === undefined) return [];
  const sendBefore = senderOf(before.plan);
  const outcomes: OfflineOutcome[] = [];
  for (const request of requests) outcomes.push(await sendBefore(request, manifest));
  const lines = outcomes.map((outcome, index) => lineOf(outcome, before.plan.hash, requests[index] as AnyRequest));
  const log = `${lines.join('\n')}\n`;
  const result = await tightenText(text, log, { files });
  const tightened = textAfter(result);
  const filesNow = filesAfter(result.after);
  const after = loadText(tightened, filesNow);
  deepEqual(
    lint(after).filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const one of style === 'json' ? [] : [tightened, ...Object.values(filesNow)]) equal(formatText(one), one);
  deepEqual(idsOf(await tightenText(tightened, log, { files: filesNow })), []);
  const sendAfter = senderOf(after.plan);
  for (const [index, request] of requests.entries())
    compareOutcomes(outcomes[index] as OfflineOutcome, await sendAfter(request, manifest), 'equal');
  for (const request of others)
    compareOutcomes(await sendBefore(request, manifest), await sendAfter(request, manifest), 'at most');
  for (const { proposal } of result.proposals) {
    const one = await tightenText(text, log, { files, only: [proposal.id] });
    ok(idsOf(one).includes(proposal.id), proposal.id);
    const alone = senderOf(loadText(textAfter(one), filesAfter(one.after)).plan);
    for (const request of others.slice(0, 5))
      compareOutcomes(await sendBefore(request, manifest), await alone(request, manifest), 'at most');
  }
  const ids = new Set(after.plan.routes.map(({ id }) => id));
  for (const { id } of before.plan.routes)
    if (style !== 'json' && ids.has(id))
      ok(
        [tightened, ...Object.values(filesNow)].some((one) => one.includes(`# note of ${id}\n`)),
        `the comment of ${id}`,
      );
  return idsOf(result);
}

function loadIfValid(text: string, files: Record<string, string>): ReturnType<typeof loadText> | undefined {
  try {
    return loadText(text, files);
  } catch {
    return undefined;
  }
}

/** Throws if the second plan allows more, or with `equal` if it allows less. */
function compareOutcomes(before: OfflineOutcome, after: OfflineOutcome, relation: 'equal' | 'at most'): void {
  const { method, path } = before.record;
  const request = `${method} ${path}`;
  if (!isAllowed(before))
    ok(!isAllowed(after) || isEqualSpelling(before, after), `${request} was refused, and is allowed`);
  else if (!isAllowed(after))
    equal(relation, 'at most', `${request} was allowed, and is refused: ${after.record.refusal?.code}`);
  else {
    equal(after.upstreamRequest?.url, before.upstreamRequest?.url, request);
    deepEqual(after.upstreamRequest?.headers.length, before.upstreamRequest?.headers.length, request);
    equal(after.record.route?.access, before.record.route?.access, request);
  }
}

/**
 * True if a protected route accepts another spelling of a path of a second route. If both require the same roles after a proposal, none
 * of them is stricter.
 */
function isEqualSpelling(before: OfflineOutcome, after: OfflineOutcome): boolean {
  const { path = '', route } = after.record;
  return before.record.refusal?.code === 'route_unknown' && FOLDABLE.test(path) && route?.access === 'protected';
}
