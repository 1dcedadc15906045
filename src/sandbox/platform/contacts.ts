import { emailField, textField } from '../fields.ts';
import type { AuthenticatedRequest, SandboxRoute } from '../request.ts';
import { addResource, listResource, type Resource, showResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';

/** The people a company sends documents to. An address occurs once in a company. */
const CONTACTS: Resource = {
  table: 'contact',
  columns: 'id, name, email, phone, created_at',
  searchExpression: 'name || email',
};

export const contactRoutes: readonly SandboxRoute[] = [
  ['GET /api/contacts', 'protected', listResource(CONTACTS)],
  ['POST /api/contacts', 'protected', create],
  ['GET /api/contacts/:id', 'protected', showResource(CONTACTS)],
];

function create(call: AuthenticatedRequest): SandboxResponse {
  const { fields } = call;
  const contact = {
    name: textField(fields, 'name'),
    email: emailField(fields, 'email'),
    phone: textField(fields, 'phone', ''),
  };
  return addResource(call, CONTACTS, contact);
}
