import type { SQLInputValue } from 'node:sqlite';
import { type Answer, Fault } from './answer.ts';
import type { Call } from './call.ts';
import type { Row, Store } from './store.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** One page of a SELECT, as `{data, meta, links}`; the caller's other query parameters stay in the links. */
export function page(
  store: Store,
  call: Call,
  select: string,
  values: readonly SQLInputValue[],
  show: (row: Row) => unknown = (row) => row,
): Answer {
  const number = positive(call, 'page', 1);
  const perPage = Math.min(positive(call, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
  const total = Number(store.one(`SELECT count(*) AS total FROM (${select})`, ...values)?.['total'] ?? 0);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const rows = store.all(`${select} LIMIT ? OFFSET ?`, ...values, perPage, (number - 1) * perPage);
  const link = (to: number) => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `${call.path}?${query}`;
  };
  return {
    status: 200,
    body: {
      data: rows.map(show),
      meta: { page: number, per_page: perPage, total, pages },
      links: {
        first: link(1),
        prev: number > 1 ? link(Math.min(number - 1, pages)) : null,
        next: number < pages ? link(number + 1) : null,
        last: link(pages),
      },
    },
  };
}

/** The `search` parameter as a pattern for `LIKE ? ESCAPE '\'`; matches everything when there is none. */
export function searchPattern(call: Call): string {
  return `%${(call.query.get('search') ?? '').replace(/[\\%_]/g, '\\$&')}%`;
}

function positive(call: Call, name: string, otherwise: number): number {
  const value = call.query.get(name);
  if (value === null) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Fault(400, `"${name}" must be a whole number from 1 on`);
  return Number(value);
}
