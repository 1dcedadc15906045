import type { Answer } from '../answer.ts';
import type { Route, UserCall } from '../call.ts';
import { email, text } from '../fields.ts';
import { add, list, type Resource, show } from '../resource.ts';

/** The people a company sends documents to. An address occurs once in a company. */
const CONTACTS: Resource = {
  table: 'contact',
  columns: 'id, name, email, phone, created_at',
  searched: 'name || email',
};

export const contactRoutes: readonly Route[] = [
  ['GET /api/contacts', 'protected', list(CONTACTS)],
  ['POST /api/contacts', 'protected', create],
  ['GET /api/contacts/:id', 'protected', show(CONTACTS)],
];

function create(call: UserCall): Answer {
  const { fields } = call;
  const contact = { name: text(fields, 'name'), email: email(fields, 'email'), phone: text(fields, 'phone', '') };
  return add(call, CONTACTS, contact);
}
