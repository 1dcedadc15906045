import type { SandboxRequest } from './request.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import type { SqlValue } from './store.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** Responds with one page of a SELECT, as `{data, meta, links}`. The links keep the other query parameters of the request. */
export function paginate(request: SandboxRequest, select: string, ...values: readonly SqlValue[]): SandboxResponse {
  const number = positiveInteger(request, 'page', 1);
  const perPage = Math.min(positiveInteger(request, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
  const total = Number(request.store.one(`SELECT count(*) AS total FROM (${select})`, ...values)?.['total']);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const limit = `LIMIT ${perPage} OFFSET ${(number - 1) * perPage}`;
  const link = (to: number) => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(to));
    return `${request.path}?${query}`;
  };
  return {
    status: 200,
    body: {
      data: request.store.all(`${select} ${limit}`, ...values),
      meta: { page: number, per_page: perPage, total, pages },
      links: { prev: number > 1 ? link(number - 1) : null, next: number < pages ? link(number + 1) : null },
    },
  };
}

function positiveInteger(request: SandboxRequest, name: string, fallback: number): number {
  const value = request.query.get(name);
  if (value === null) return fallback;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new SandboxError(400, `"${name}" must be an integer of at least 1`);
  return Number(value);
}
