import { randomUUID } from 'node:crypto';
import { recordAuditEvent } from './audit.ts';
import { paginate } from './paginate.ts';
import type { AuthenticatedRequest, QueryParameter } from './request.ts';
import { dataResponse, requireFound, SandboxError, type SandboxResponse } from './response.ts';
import { now, type SqlValue } from './store.ts';

/** A table whose rows belong to companies. The handlers in this file list, show and add rows. */
export interface Resource {
  /** The name of the table. Messages and audit events use it as the name of a row. */
  readonly table: string;
  /** The returned columns, in SQL. */
  readonly columns: string;
  /** The searched text, in SQL. */
  readonly searchExpression: string;
  /** The column that the query parameter of the same name filters; default `id`. */
  readonly filterColumn?: string;
}

/** The query parameters of lists. */
export const LIST_QUERY = ['page', 'per_page', 'search'] as const satisfies readonly QueryParameter[];

type ResourceHandler = (request: AuthenticatedRequest) => SandboxResponse;

/** Lists one page of the rows that contain the text of the `search` parameter. */
export function listResource({ table, columns, searchExpression, filterColumn = 'id' }: Resource): ResourceHandler {
  const select = `SELECT ${columns} FROM ${table}
    WHERE company_id = ? AND instr(lower(${searchExpression}), ?) AND ? IN (${filterColumn}, '') ORDER BY rowid`;
  return (request) => {
    const { query, user } = request;
    return paginate(
      request,
      select,
      user.companyId,
      query.get('search')?.toLowerCase() ?? '',
      query.get(filterColumn) ?? '',
    );
  };
}

/** Responds with the row of the path parameter `:id`; 404 for a row of another company. */
export function showResource(resource: Resource): ResourceHandler {
  return (request) => dataResponse(readResource(request, resource, request.id));
}

/** Adds a row. Throws 409 if a unique value already exists. */
export function addResource(
  request: AuthenticatedRequest,
  resource: Resource,
  row: Readonly<Record<string, SqlValue>>,
): SandboxResponse {
  const { store, user } = request;
  const { table } = resource;
  const id = randomUUID();
  const isNew = store.insert(table, { id, company_id: user.companyId, ...row, created_at: now() });
  if (!isNew) throw new SandboxError(409, `the ${table} already exists`);
  recordAuditEvent(store, user, `${table}.create`, id);
  return dataResponse(readResource(request, resource, id), 201);
}

export function readResource({ store, user }: AuthenticatedRequest, { table, columns }: Resource, id: string): object {
  const select = `SELECT ${columns} FROM ${table} WHERE id = ? AND company_id = ?`;
  return requireFound(store.one(select, id, user.companyId), table);
}
