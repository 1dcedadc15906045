import { emailField, textField } from '../fields.ts';
import type { AuthenticatedRequest, SandboxRoute } from '../request.ts';
import { addResource, listResource, type Resource, showResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';

/** Signature workflows. A new workflow stays a draft, because nobody signs in the sandbox. */
const WORKFLOWS: Resource = {
  table: 'workflow',
  columns: 'id, name, status, document_id, signer_email, created_at, completed_at',
  searchExpression: 'name',
};

export const workflowRoutes: readonly SandboxRoute[] = [
  ['GET /api/workflows', 'protected', listResource(WORKFLOWS)],
  ['POST /api/workflows', 'protected', create],
  ['GET /api/workflows/:id', 'protected', showResource(WORKFLOWS)],
  ['GET /api/workflows/completed/documents/list', 'protected', listCompletedDocuments],
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
