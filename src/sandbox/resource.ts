import { randomUUID } from 'node:crypto';
import { recordAuditEvent } from './audit.ts';
import { paginate } from './paginate.ts';
import type { AuthenticatedRequest } from './request.ts';
import { dataResponse, requireFound, SandboxError, type SandboxResponse } from './response.ts';
import { now, type SqlValue } from './store.ts';

/** What each company has of its own in one table: the same ways to list it, to show it and to add to it. */
export interface Resource {
  /** Named as one of them is in messages and audit events. */
  readonly table: string;
  /** What is shown of it, in SQL. */
  readonly columns: string;
  /** The text that is searched, in SQL. */
  readonly searchExpression: string;
  /** The column to whose value a query parameter of its name narrows a list; `id` unless told. */
  readonly filterColumn?: string;
}

type ResourceHandler = (call: AuthenticatedRequest) => SandboxResponse;

/** A page of them, with the text of the `search` parameter in them: all have the empty one. */
export function listResource({ table, columns, searchExpression, filterColumn = 'id' }: Resource): ResourceHandler {
  const select = `SELECT ${columns} FROM ${table}
    WHERE company_id = ? AND instr(lower(${searchExpression}), ?) AND ? IN (${filterColumn}, '') ORDER BY rowid`;
  return (call) => {
    const { query, user } = call;
    return paginate(
      call,
      select,
      user.companyId,
      query.get('search')?.toLowerCase() ?? '',
      query.get(filterColumn) ?? '',
    );
  };
}

/** The one of the path's `:id`; 404 for what belongs to another company, too. */
export function showResource(resource: Resource): ResourceHandler {
  return (call) => dataResponse(readResource(call, resource, call.id));
}

/** Throws 409 when there is one that says the same where it must not. */
export function addResource(
  call: AuthenticatedRequest,
  resource: Resource,
  row: Readonly<Record<string, SqlValue>>,
): SandboxResponse {
  const { store, user } = call;
  const { table } = resource;
  const id = randomUUID();
  const isNew = store.insert(table, { id, company_id: user.companyId, ...row, created_at: now() });
  if (!isNew) throw new SandboxError(409, `there is such a ${table} already`);
  recordAuditEvent(store, user, `${table}.create`, id);
  return dataResponse(readResource(call, resource, id), 201);
}

export function readResource({ store, user }: AuthenticatedRequest, { table, columns }: Resource, id: string): object {
  const select = `SELECT ${columns} FROM ${table} WHERE id = ? AND company_id = ?`;
  return requireFound(store.one(select, id, user.companyId), table);
}
