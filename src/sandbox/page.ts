import { type Answer, Fault } from './answer.ts';
import type { Call } from './call.ts';
import type { Value } from './store.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** One page of a SELECT, as `{data, meta, links}`; the caller's other query parameters stay in the links. */
export function page(call: Call, select: string, ...values: readonly Value[]): Answer {
  const number = positive(call, 'page', 1);
  const perPage = Math.min(positive(call, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
  const total = Number(call.store.one(`SELECT count(*) AS total FROM (${select})`, ...values)?.['total']);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const limit = `LIMIT ${perPage} OFFSET ${(number - 1) * perPage}`;
  const link = (to: number) => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `${call.path}?${query}`;
  };
  return {
    status: 200,
    body: {
      data: call.store.all(`${select} ${limit}`, ...values),
      meta: { page: number, per_page: perPage, total, pages },
      links: { prev: number > 1 ? link(number - 1) : null, next: number < pages ? link(number + 1) : null },
    },
  };
}

function positive(call: Call, name: string, otherwise: number): number {
  const value = call.query.get(name);
  if (value === null) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Fault(400, `"${name}" must be a whole number from 1 on`);
  return Number(value);
}
