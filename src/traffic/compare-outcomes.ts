import type { KnownOutcome, Outcome, UnknownReason } from './outcome.ts';

/** How the outcome of a request changes. A test compares `docs/candidate.md` with this table. */
export const CHANGE_KINDS = {
  'newly-refused': 'the gateway refuses a request that it allowed',
  'newly-allowed': 'the gateway allows a request that it refused',
  'other-route': 'another route forwards the request',
  'other-upstream': 'the request goes to another upstream, or to other endpoints',
  'other-status':
    'the gateway responds itself, with another status, code, detail, headers or errors, or no longer does so',
  'other-message': 'the upstream receives another path or other headers',
} as const satisfies Record<string, string>;

export type ChangeKind = keyof typeof CHANGE_KINDS;

/** The result for one request. Unknown is not same: a plan whose outcome is not known may refuse the request. */
export type ComparisonResult =
  | { readonly result: 'same' }
  | { readonly result: 'unknown'; readonly reason: UnknownReason }
  | { readonly result: 'changed'; readonly kind: ChangeKind; readonly from: KnownOutcome; readonly to: KnownOutcome };

const SAME: ComparisonResult = { result: 'same' };

/** Compares what two plans do with one request. */
export function compareOutcomes(from: Outcome, to: Outcome): ComparisonResult {
  if (from.kind === 'unknown') return { result: 'unknown', reason: from.reason };
  if (to.kind === 'unknown') return { result: 'unknown', reason: to.reason };
  const kind = kindOfChange(from, to);
  return kind === undefined ? SAME : { result: 'changed', kind, from, to };
}

function kindOfChange(from: KnownOutcome, to: KnownOutcome): ChangeKind | undefined {
  if (from.kind === 'refused') {
    if (to.kind !== 'refused') return 'newly-allowed';
    const isSame =
      from.code === to.code &&
      from.status === to.status &&
      from.detail === to.detail &&
      (from.response === undefined || from.response() === to.response?.());
    return isSame ? undefined : 'other-status';
  }
  if (to.kind === 'refused') return 'newly-refused';
  if (from.kind === 'responded' || to.kind === 'responded') {
    return isSameResponse(from, to) ? undefined : 'other-status';
  }
  if (from.route !== to.route) return 'other-route';
  if (from.upstream !== to.upstream || from.endpoints !== to.endpoints) return 'other-upstream';
  return isSameMessage(from, to) ? undefined : 'other-message';
}

/** True if the gateway responds itself both times, and alike. */
function isSameResponse(from: KnownOutcome, to: KnownOutcome): boolean {
  if (from.kind !== 'responded' || to.kind !== 'responded') return false;
  return from.status === to.status && JSON.stringify(from.headers) === JSON.stringify(to.headers);
}

type Forwarded = Extract<Outcome, { readonly kind: 'forwarded' }>;

function isSameMessage(from: Forwarded, to: Forwarded): boolean {
  const [before, after] = [from.message(), to.message()];
  return before.path === after.path && JSON.stringify(before.headers) === JSON.stringify(after.headers);
}
