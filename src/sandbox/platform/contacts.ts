import { emailField, textField } from '../fields.ts';
import type { AuthenticatedRequest, SandboxRoute } from '../request.ts';
import { addResource, listResource, type Resource, showResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';

/** The people to whom a company sends documents. Addresses are unique within a company. */
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

function create(request: AuthenticatedRequest): SandboxResponse {
  const { fields } = request;
  const contact = {
    name: textField(fields, 'name'),
    email: emailField(fields, 'email'),
    phone: textField(fields, 'phone', ''),
  };
  return addResource(request, CONTACTS, contact);
}
