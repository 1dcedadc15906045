import { emailField, textField } from '../fields.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { addResource, LIST_QUERY, listResource, type Resource, showResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';
import { SAMPLES } from '../samples.ts';

/** The people to whom a company sends documents. Addresses are unique within a company. */
const CONTACTS: Resource = {
  table: 'contact',
  columns: 'id, name, email, phone, created_at',
  searchExpression: 'name || email',
};

export const contactRoutes: readonly SandboxRoute[] = [
  ['GET /api/contacts', 'protected', listResource(CONTACTS), { summary: 'List contacts', query: LIST_QUERY }],
  [
    'POST /api/contacts',
    'protected',
    create,
    {
      summary: 'Add a contact',
      body: jsonBody({ name: 'Mia Berg', email: 'mia.berg@partner.example', phone: '+49 30 1234' }),
      status: 201,
    },
  ],
  ['GET /api/contacts/:id', 'protected', showResource(CONTACTS), { summary: 'Read a contact', id: SAMPLES.contactId }],
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
