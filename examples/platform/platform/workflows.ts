import { emailField, textField } from '../fields.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { addResource, LIST_QUERY, listResource, type Resource, showResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';
import { SAMPLES } from '../samples.ts';

/** Signature workflows. A new workflow stays a draft, because nobody signs in the sandbox. */
const WORKFLOWS: Resource = {
  table: 'workflow',
  columns: 'id, name, status, document_id, signer_email, created_at, completed_at',
  searchExpression: 'name',
};

export const workflowRoutes: readonly SandboxRoute[] = [
  ['GET /api/workflows', 'protected', listResource(WORKFLOWS), { summary: 'List workflows', query: LIST_QUERY }],
  [
    'POST /api/workflows',
    'protected',
    create,
    {
      summary: 'Add a workflow',
      body: jsonBody({ name: 'Sign the lease', signer_email: 'ada.lind@partner.example' }),
      status: 201,
    },
  ],
  [
    'GET /api/workflows/:id',
    'protected',
    showResource(WORKFLOWS),
    { summary: 'Read a workflow', id: SAMPLES.workflowId },
  ],
  [
    'GET /api/workflows/completed/documents/list',
    'protected',
    listCompletedDocuments,
    { summary: 'List the documents of completed workflows' },
  ],
];

function create(request: AuthenticatedRequest): SandboxResponse {
  const { fields } = request;
  const workflow = { name: textField(fields, 'name'), signer_email: emailField(fields, 'signer_email') };
  return addResource(request, WORKFLOWS, { ...workflow, status: 'draft' });
}

function listCompletedDocuments({ store, user }: AuthenticatedRequest): SandboxResponse {
  const documents = store.all(
    `SELECT workflow.id AS workflow_id, name AS workflow, document_id AS uuid, title, completed_at,
       '/api/v4/documents/' || document_id || '/download' AS download
     FROM workflow JOIN document ON document.id = document_id
     WHERE workflow.company_id = ? AND status = 'completed' ORDER BY workflow.rowid`,
    user.companyId,
  );
  return { status: 200, body: { status: 'success', message: 'documents of completed workflows', data: documents } };
}
