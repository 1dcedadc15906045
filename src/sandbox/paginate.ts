import type { SandboxRequest } from './request.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import type { SqlValue } from './store.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** One page of a SELECT, as `{data, meta, links}`; the caller's other query parameters stay in the links. */
export function paginate(call: SandboxRequest, select: string, ...values: readonly SqlValue[]): SandboxResponse {
  const number = positiveInteger(call, 'page', 1);
  const perPage = Math.min(positiveInteger(call, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
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

function positiveInteger(call: SandboxRequest, name: string, otherwise: number): number {
  const value = call.query.get(name);
  if (value === null) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new SandboxError(400, `"${name}" must be a whole number from 1 on`);
  return Number(value);
}
