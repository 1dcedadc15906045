import { hash } from 'node:crypto';
import { textField } from '../fields.ts';
import { enqueueJob, type SandboxJob, showJob } from '../jobs.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { addResource, LIST_QUERY, listResource, type Resource, readResource } from '../resource.ts';
import type { SandboxResponse } from '../response.ts';
import { SAMPLES } from '../samples.ts';
import type { Store } from '../store.ts';

const FOLDERS: Resource = { table: 'edm_folder', columns: 'id, name', searchExpression: 'name' };

const DOCUMENTS: Resource = {
  table: 'edm_document',
  columns: 'id, title, folder_id, created_at',
  searchExpression: 'title',
  filterColumn: 'folder_id',
};

/** Routes of electronic document management: texts in folders, and an export that lists the texts with their hashes. */
export const edmRoutes: readonly SandboxRoute[] = [
  ['GET /api/edm/folders', 'protected', listResource(FOLDERS), { summary: 'List folders', query: LIST_QUERY }],
  [
    'GET /api/edm/documents',
    'protected',
    listResource(DOCUMENTS),
    { summary: 'List EDM documents', query: [...LIST_QUERY, 'folder_id'] },
  ],
  [
    'POST /api/edm/documents',
    'protected',
    create,
    {
      summary: 'Add an EDM document',
      body: jsonBody({ title: 'Letter', folder_id: SAMPLES.folderId, content: 'Dear Ada' }),
      status: 201,
    },
  ],
  [
    'POST /api/edm/export',
    'protected',
    startExport,
    { summary: 'Export a folder in a job', body: jsonBody({ folder_id: SAMPLES.folderId }), status: 202 },
  ],
  ['GET /api/edm/export/:id', 'protected', showJob('edm-export'), { summary: 'Poll an export' }],
];

/** Runs the export job. Its input is the id of a folder; an empty input exports all folders of the company. */
export function* exportDocuments(store: Store, { input, companyId }: SandboxJob): Generator<object> {
  const rows = store.all<{ title: string; folder: string; content: string }>(
    `SELECT edm_document.id, title, name AS folder, content
     FROM edm_document JOIN edm_folder ON edm_folder.id = folder_id
     WHERE edm_document.company_id = ?1 AND ?2 IN ('', folder_id) ORDER BY edm_document.rowid`,
    companyId,
    input,
  );
  const documents = rows.map(({ content, ...row }) => ({ ...row, sha256: hash('sha256', content) }));
  yield { result: { count: documents.length, documents } };
}

function create(request: AuthenticatedRequest): SandboxResponse {
  const { fields } = request;
  const folder_id = textField(fields, 'folder_id');
  readResource(request, FOLDERS, folder_id);
  return addResource(request, DOCUMENTS, {
    title: textField(fields, 'title'),
    folder_id,
    content: textField(fields, 'content', ''),
  });
}

function startExport(request: AuthenticatedRequest): SandboxResponse {
  const folder = textField(request.fields, 'folder_id', '');
  if (folder !== '') readResource(request, FOLDERS, folder);
  return enqueueJob(request, 'edm-export', folder);
}
