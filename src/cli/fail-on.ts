import { suggestion } from '../engine/problem/did-you-mean.ts';
import { pluralize } from '../report/text.ts';
import { CHANGE_KINDS, type ChangeKind } from '../traffic/compare-outcomes.ts';
import { UsageError } from './terminal.ts';

/** The conditions of `--fail-on` under which a comparison of two manifests fails. */
export interface FailOn {
  readonly kinds: readonly ChangeKind[];
  /** The largest accepted share of unknown decisions, from 0 to 1. */
  readonly unknownShare: number | undefined;
}

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
export function parseFailOn(text: string | undefined): FailOn {
  const kinds = new Set<ChangeKind>();
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
