import { randomUUID } from 'node:crypto';
import { type Answer, data, Fault, found } from './answer.ts';
import { audit } from './audit.ts';
import type { UserCall } from './call.ts';
import { page } from './page.ts';
import { now, type Value } from './store.ts';

/** What each company has of its own in one table: the same ways to list it, to show it and to add to it. */
export interface Resource {
  /** Named as one of them is in messages and audit events. */
  readonly table: string;
  /** What is shown of it, in SQL. */
  readonly columns: string;
  /** The text that is searched, in SQL. */
  readonly searched: string;
  /** The column to whose value a query parameter of its name narrows a list; `id` unless told. */
  readonly narrowed?: string;
}

type Show = (call: UserCall) => Answer;

/** A page of them, with the text of the `search` parameter in them: all have the empty one. */
export function list({ table, columns, searched, narrowed = 'id' }: Resource): Show {
  const select = `SELECT ${columns} FROM ${table}
    WHERE company_id = ? AND instr(lower(${searched}), ?) AND ? IN (${narrowed}, '') ORDER BY rowid`;
  return (call) => {
    const { query, user } = call;
    return page(call, select, user.companyId, query.get('search')?.toLowerCase() ?? '', query.get(narrowed) ?? '');
  };
}

/** The one of the path's `:id`; 404 for what belongs to another company, too. */
export function show(resource: Resource): Show {
  return (call) => data(read(call, resource, call.id));
}

/** Throws 409 when there is one that says the same where it must not. */
export function add(call: UserCall, resource: Resource, row: Readonly<Record<string, Value>>): Answer {
  const { store, user } = call;
  const { table } = resource;
  const id = randomUUID();
  const isNew = store.insert(table, { id, company_id: user.companyId, ...row, created_at: now() });
  if (!isNew) throw new Fault(409, `there is such a ${table} already`);
  audit(store, user, `${table}.create`, id);
  return data(read(call, resource, id), 201);
}

export function read({ store, user }: UserCall, { table, columns }: Resource, id: string): object {
  const select = `SELECT ${columns} FROM ${table} WHERE id = ? AND company_id = ?`;
  return found(store.one(select, id, user.companyId), table);
}
