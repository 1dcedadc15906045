import { getOrCreate } from '../engine/get-or-create.ts';
import type { RequestEvent } from '../process/telemetry/request-event.ts';

const MAX_WORDS = 8;
const MAX_LENGTH = 200;
/** The filter searches only this many characters of a path. */
const MAX_PATH_LENGTH = 1_000;

/** The values of `only`: a refused request has a violation or a 4xx of the gateway, a failed one a 5xx of an upstream or of the gateway. */
const SELECTIONS: Readonly<Record<string, (decision: RequestEvent) => boolean>> = {
  refused: ({ refusal, status }) => refusal !== null && (status === null || status < 500),
  failed: ({ status }) => status !== null && status >= 500,
};

/** A word that selects the decisions with exactly this value of a member, such as `upstream:contacts`. */
const MEMBER = /^(route|upstream|refusal|limits):(.*)$/s;

export interface RequestEventFilter {
  readonly isSelected: (decision: RequestEvent) => boolean;
  /** Lower-case words. A decision must contain each of them, or have it as its id. */
  readonly words: readonly string[];
}

/** Returns a message if the query is not a filter. */
export function parseFilter(query: URLSearchParams): RequestEventFilter | string {
  const only = query.get('only');
  const isSelected = only === null ? () => true : Object.hasOwn(SELECTIONS, only) ? SELECTIONS[only] : undefined;
  if (isSelected === undefined)
    return `unknown value "${only}" of "only"; write only=refused or only=failed, or remove it`;
  const text = query.get('filter') ?? '';
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (text.length > MAX_LENGTH || words.length > MAX_WORDS)
    return `the filter is too long; use at most ${MAX_WORDS} words and ${MAX_LENGTH} characters`;
  const members = words.map((word) => MEMBER.exec(word)).filter((match) => match !== null);
  const hasValue = (decision: RequestEvent, name: string | undefined, value = '') =>
    [decision[name as 'route' | 'limits'] ?? []].flat().includes(value);
  return {
    words: words.filter((word) => !MEMBER.test(word)),
    isSelected: (decision) =>
      isSelected(decision) && members.every(([, name, value]) => hasValue(decision, name, value)),
  };
}

/** Returns the number of characters that `isMatch` searches. */
export function searchCost({ words, isSelected }: RequestEventFilter, decision: RequestEvent): number {
  if (words.length === 0 || !isSelected(decision)) return 0;
  return searchTextOf(decision).length * words.length;
}

export function isMatch({ words, isSelected }: RequestEventFilter, decision: RequestEvent): boolean {
  if (!isSelected(decision)) return false;
  // An id matches only completely: most ids contain the digits of any status code.
  return words.every((word) => searchTextOf(decision).includes(word) || word === decision.id);
}

/** The text of an event, which every stream searches. */
const SEARCH_TEXTS = new WeakMap<RequestEvent, string>();

function searchTextOf(decision: RequestEvent): string {
  return getOrCreate(SEARCH_TEXTS, decision, (event) => {
    const { method, route, status, refusal, reason, limits, subject, client } = event;
    const path = event.path ?? event.refused_path;
    return [method, path?.slice(0, MAX_PATH_LENGTH), route, status, refusal, reason, ...limits, subject, client]
      .join(' ')
      .toLowerCase();
  });
}
