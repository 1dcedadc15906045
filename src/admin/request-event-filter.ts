import type { RequestEvent } from '../gateway/telemetry/request-event.ts';

const MAX_WORDS = 8;
const MAX_LENGTH = 200;
/** Filters search at most so many characters of a path. */
const MAX_PATH_LENGTH = 1_000;

export interface RequestEventFilter {
  readonly isRefusedOnly: boolean;
  /** Words in lower case that must all be found in a decision, or be its whole id. */
  readonly words: readonly string[];
}

/** Returns a message if the query is not a filter. */
export function parseFilter(query: URLSearchParams): RequestEventFilter | string {
  const only = query.get('only');
  if (only !== null && only !== 'refused') return 'write only=refused, or leave it out';
  const text = query.get('filter') ?? '';
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (text.length > MAX_LENGTH || words.length > MAX_WORDS)
    return `a filter has at most ${MAX_WORDS} words and ${MAX_LENGTH} characters`;
  return { isRefusedOnly: only === 'refused', words };
}

/** The characters that `isWanted` may have to search. */
export function searchCost({ words, isRefusedOnly }: RequestEventFilter, decision: RequestEvent): number {
  if (words.length === 0 || (isRefusedOnly && decision.refusal === null)) return 0;
  return searchTextOf(decision).length * words.length;
}

export function isMatch({ words, isRefusedOnly }: RequestEventFilter, decision: RequestEvent): boolean {
  if (isRefusedOnly && decision.refusal === null) return false;
  // A number is meant as a status, and would be found in most ids.
  return words.every((word) => searchTextOf(decision).includes(word) || word === decision.id);
}

/** All streams see one decision after the other: the text of the latest one is made once for all of them. */
let latest: { readonly decision: RequestEvent; readonly text: string } | undefined;

function searchTextOf(decision: RequestEvent): string {
  if (latest?.decision !== decision) {
    const { method, path, route, status, refusal, reason, subject } = decision;
    const text = [method, path?.slice(0, MAX_PATH_LENGTH), route, status, refusal, reason, subject]
      .join(' ')
      .toLowerCase();
    latest = { decision, text };
  }
  return latest.text;
}
