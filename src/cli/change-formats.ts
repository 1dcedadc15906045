import { suggestion } from '../engine/problem/did-you-mean.ts';
import type { Severity } from '../engine/problem/finding.ts';
import { markdownTable, tableCell } from '../report/markdown.ts';
import type { Facts } from '../report/report.ts';
import { pluralize } from '../report/text.ts';
import { CHANGE_KINDS, type ChangeKind } from '../traffic/compare-outcomes.ts';
import { type ChangeGroup, MAX_CALLERS } from '../traffic/comparison.ts';
import type { OutcomeReport } from '../traffic/outcome.ts';
import { UsageError } from './terminal.ts';

/** Requests that change in the same way, as `candidate` and `replay` print them. */
type Change = Omit<ChangeGroup<never>, 'witnesses'>;

export const CHANGE_SEVERITIES = {
  'newly-refused': 'error',
  'newly-allowed': 'error',
  'other-route': 'warning',
  'other-upstream': 'warning',
  'other-status': 'warning',
  'other-message': 'info',
} as const satisfies Record<ChangeKind, Severity>;

/** The changes that a person reads. JSON has all of them. A comment of a pull request has at most 65,536 characters, a row up to 400. */
export const MAX_CHANGES = 50;

/** Returns a change as a row. `names` are those of the two manifests. */
export function changeRow({ kind, from, to, ...group }: Change, names: readonly [string, string], more: Facts) {
  const facts: Facts = [[names[0], outcomeText(from)], [names[1], outcomeText(to)], ...more];
  return { rule: kind, severity: CHANGE_SEVERITIES[kind], message: requestsText(group), facts };
}

/** Returns a text about the changes that a person does not read. */
export function omittedText(changes: readonly Change[]): string[] {
  const more = changes.length - MAX_CHANGES;
  return more > 0 ? [`and ${more} more kinds of changes; use -f json`] : [];
}

/** Formats the first changes as a table for a pull request, with a last column, and the number of the others. */
export function changeTable<Entry extends Change>(
  changes: readonly Entry[],
  [before, after]: readonly [string, string],
  last: Readonly<Record<string, (change: Entry) => string>>,
): string {
  const columns = {
    change: ({ kind }: Entry) => kind,
    [before]: ({ from }: Entry) => tableCell(outcomeText(from)),
    [after]: ({ to }: Entry) => tableCell(outcomeText(to)),
    requests: ({ requests }: Entry) => requests,
    callers: ({ callers }: Entry) => callers,
    ...last,
  };
  const more = changes.length - MAX_CHANGES;
  return markdownTable(changes.slice(0, MAX_CHANGES), columns, more > 0 ? [`and ${more} more`] : []);
}

export function countTable(name: string, counts: readonly (readonly [string, number])[]): string {
  return markdownTable(counts, { [name]: ([text]) => tableCell(text), requests: ([, count]) => count });
}

/** Returns the reasons with their numbers of requests: `token 12, body 3`. */
export function reasonsText(counts: readonly (readonly [string, number])[]): string {
  return counts.map(([reason, count]) => `${reason} ${count}`).join(', ');
}

/** Returns the number of requests and of their callers, of which a group counts a limited number. */
export function requestsText({ requests, callers }: Pick<Change, 'requests' | 'callers'>): string {
  const limit = callers < MAX_CALLERS ? '' : 'at least ';
  return `${pluralize(requests, 'request')} of ${limit}${pluralize(callers, 'caller')}`;
}

/** Returns an outcome in words: `forwarded to contacts by contact-list`. */
export function outcomeText({ outcome, route, upstream, status, refusal, reason }: OutcomeReport): string {
  if (outcome === 'forwarded') return `forwarded to ${upstream} by ${route}`;
  const by = route === null ? 'without a route' : `by ${route}`;
  const code = [status, refusal, reason === refusal ? null : reason].filter((part) => part !== null).join(' ');
  return `${outcome} ${by}: ${code}`;
}

/** The conditions of `--fail-on` under which a comparison of two manifests fails. */
export type FailOn = ReturnType<typeof parseFailOn>;

/** The counts of a comparison that the conditions are about. */
export interface ChangeCounts {
  readonly requests: number;
  readonly unknown: number;
  readonly kinds: Readonly<Partial<Record<ChangeKind, number>>>;
}

const KINDS = Object.keys(CHANGE_KINDS) as ChangeKind[];

/** The words of `--fail-on`, for completion. */
export const FAIL_ON_WORDS: readonly string[] = [...KINDS, 'changed'];
/** An example of the other condition, which a shell needs in quotes. */
export const UNKNOWN_CONDITION = 'unknown>5%';

/** Parses a list such as `newly-refused,unknown>5%`. `changed` stands for all kinds. Throws a `UsageError`. */
export function parseFailOn(text: string | undefined) {
  const kinds = new Set<ChangeKind>();
  // The largest accepted share of unknown decisions, from 0 to 1.
  let unknownShare: number | undefined;
  for (const word of text?.split(',').map((part) => part.trim()) ?? []) {
    const [, percent] = /^unknown>(\d{1,3}(?:\.\d{1,3})?)%$/.exec(word) ?? [];
    if (percent !== undefined) unknownShare = Number(percent) / 100;
    else if (word === 'changed') for (const kind of KINDS) kinds.add(kind);
    else kinds.add(parseKind(word));
  }
  return { kinds: [...kinds], unknownShare };
}

function parseKind(word: string): ChangeKind {
  const kind = KINDS.find((candidate) => candidate === word);
  if (kind !== undefined) return kind;
  const words = [...FAIL_ON_WORDS, UNKNOWN_CONDITION];
  const hint = suggestion(word, words) || `; write a list of ${words.join(', ')}`;
  throw new UsageError(`--fail-on: unknown condition "${word}"${hint}`);
}

/** Returns a message for each kind of change that has occurred. Such a condition stays true, so it is known before the end. */
export function occurredKinds({ kinds }: FailOn, counts: ChangeCounts): string[] {
  return kinds.flatMap((kind) => {
    const count = counts.kinds[kind] ?? 0;
    return count === 0 ? [] : [`${kind}: ${pluralize(count, 'request')}`];
  });
}

/** Returns a message for each condition that is true at the end of a comparison. */
export function failuresOf(failOn: FailOn, counts: ChangeCounts): string[] {
  const { unknownShare } = failOn;
  const isUnknown = unknownShare !== undefined && counts.unknown > unknownShare * counts.requests;
  const unknown = isUnknown
    ? [`unknown: ${counts.unknown} of ${pluralize(counts.requests, 'request')}, more than ${100 * unknownShare} %`]
    : [];
  return [...occurredKinds(failOn, counts), ...unknown];
}
