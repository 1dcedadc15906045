import { hash } from 'node:crypto';
import type { Answer } from '../answer.ts';
import type { Route, UserCall } from '../call.ts';
import { text } from '../fields.ts';
import { type Job, showJob, startJob } from '../jobs.ts';
import { add, list, type Resource, read } from '../resource.ts';
import type { Store } from '../store.ts';

const FOLDERS: Resource = { table: 'edm_folder', columns: 'id, name', searched: 'name' };

const DOCUMENTS: Resource = {
  table: 'edm_document',
  columns: 'id, title, folder_id, created_at',
  searched: 'title',
  narrowed: 'folder_id',
};

/** Electronic document management: texts in folders, and an export that lists them with their hashes. */
export const edmRoutes: readonly Route[] = [
  ['GET /api/edm/folders', 'protected', list(FOLDERS)],
  ['GET /api/edm/documents', 'protected', list(DOCUMENTS)],
  ['POST /api/edm/documents', 'protected', create],
  ['POST /api/edm/export', 'protected', startExport],
  ['GET /api/edm/export/:id', 'protected', showJob('edm-export')],
];

/** The job: what the folder that is the input holds, or all folders of the company without one. */
export function* exportDocuments(store: Store, { input, companyId }: Job): Generator<object> {
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

function create(call: UserCall): Answer {
  const { fields } = call;
  const folder_id = text(fields, 'folder_id');
  read(call, FOLDERS, folder_id);
  return add(call, DOCUMENTS, { title: text(fields, 'title'), folder_id, content: text(fields, 'content', '') });
}

function startExport(call: UserCall): Answer {
  const folder = text(call.fields, 'folder_id', '');
  if (folder !== '') read(call, FOLDERS, folder);
  return startJob(call, 'edm-export', folder);
}
