import { randomUUID } from 'node:crypto';
import { type Answer, data, Fault, found, noContent } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, email, optionalText, text, type User } from '../call.ts';
import { page, searchPattern } from '../page.ts';
import type { Route } from '../server.ts';
import { now, type Row, type Store } from '../store.ts';

const COLUMNS = 'id, name, email, phone, created_at';

/** The people a company sends documents to. An address occurs once in a company. */
export function contactRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/contacts', 'protected', (call, user) => list(store, call, user)],
    ['POST', '/api/contacts', 'protected', (call, user) => create(store, call, user)],
    ['GET', '/api/contacts/:id', 'protected', (call, user) => data(contactOf(store, call.param('id'), user))],
    ['PATCH', '/api/contacts/:id', 'protected', (call, user) => change(store, call, user)],
    ['DELETE', '/api/contacts/:id', 'protected', (call, user) => remove(store, call, user)],
  ];
}

/** Adds a contact unless the company has its address; its id, or undefined when it was there before. */
export function addContact(store: Store, companyId: string, contact: Contact): string | undefined {
  const id = randomUUID();
  const insert = 'INSERT INTO contacts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
  return store.run(insert, id, companyId, contact.name, contact.email, contact.phone ?? null, now()) ? id : undefined;
}

interface Contact {
  readonly name: string;
  readonly email: string;
  readonly phone?: string | undefined;
}

function list(store: Store, call: Call, user: User): Answer {
  const search = searchPattern(call);
  return page(
    store,
    call,
    `SELECT ${COLUMNS} FROM contacts
     WHERE company_id = ? AND (name LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\') ORDER BY rowid`,
    [user.companyId, search, search],
  );
}

async function create(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json();
  const contact = { name: text(body, 'name'), email: email(body, 'email'), phone: optionalText(body, 'phone') };
  const id = addContact(store, user.companyId, contact);
  if (id === undefined) throw new Fault(409, `there is a contact with the address ${contact.email}`);
  audit(store, user, 'contact.create', id);
  return data(contactOf(store, id, user), 201);
}

async function change(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json();
  const id = call.param('id');
  const old = contactOf(store, id, user);
  const changed = { ...old, ...body };
  const address = email(changed, 'email');
  const update = 'UPDATE OR IGNORE contacts SET name = ?, email = ?, phone = ? WHERE id = ?';
  const done = store.run(update, text(changed, 'name'), address, optionalText(changed, 'phone') ?? null, id);
  if (!done) throw new Fault(409, `there is a contact with the address ${address}`);
  audit(store, user, 'contact.update', id);
  return data(contactOf(store, id, user));
}

function remove(store: Store, call: Call, user: User): Answer {
  const id = call.param('id');
  contactOf(store, id, user);
  store.run('DELETE FROM contacts WHERE id = ?', id);
  audit(store, user, 'contact.delete', id);
  return noContent;
}

function contactOf(store: Store, id: string, user: User): Row {
  const contact = store.one(`SELECT ${COLUMNS} FROM contacts WHERE id = ? AND company_id = ?`, id, user.companyId);
  return found(contact, 'contact');
}
