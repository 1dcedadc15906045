import type { Answer } from '../answer.ts';
import type { Route, UserCall } from '../call.ts';
import { email, text } from '../fields.ts';
import { add, list, type Resource, show } from '../resource.ts';

/** Who is to sign what. A workflow made here stays a draft: the sandbox has nobody to sign it. */
const WORKFLOWS: Resource = {
  table: 'workflow',
  columns: 'id, name, status, document_id, signer_email, created_at, completed_at',
  searched: 'name',
};

export const workflowRoutes: readonly Route[] = [
  ['GET /api/workflows', 'protected', list(WORKFLOWS)],
  ['POST /api/workflows', 'protected', create],
  ['GET /api/workflows/:id', 'protected', show(WORKFLOWS)],
  ['GET /api/workflows/completed/documents/list', 'protected', listCompletedDocuments],
];

function create(call: UserCall): Answer {
  const { fields } = call;
  const workflow = { name: text(fields, 'name'), signer_email: email(fields, 'signer_email') };
  return add(call, WORKFLOWS, { ...workflow, status: 'draft' });
}

function listCompletedDocuments({ store, user }: UserCall): Answer {
  const documents = store.all(
    `SELECT workflow.id AS workflow_id, name AS workflow, document_id AS uuid, title, completed_at,
       '/api/v4/documents/' || document_id || '/download' AS download
     FROM workflow JOIN document ON document.id = document_id
     WHERE workflow.company_id = ? AND status = 'completed' ORDER BY workflow.rowid`,
    user.companyId,
  );
  return { status: 200, body: { status: 'success', message: 'documents of completed workflows', data: documents } };
}
