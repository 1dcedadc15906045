import { createHash, randomUUID } from 'node:crypto';
import { type Answer, data, Fault } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, type Fields, optionalText, text, type User } from '../call.ts';
import type { JobOutput, JobRun, Jobs } from '../jobs.ts';
import { page, searchPattern } from '../page.ts';
import type { Route } from '../server.ts';
import { now, type Store } from '../store.ts';

/** Electronic document management: texts in folders, and an export that lists them with their hashes. */
export function edmRoutes(store: Store, jobs: Jobs): readonly Route[] {
  return [
    ['GET', '/api/edm/folders', 'protected', (call, user) => page(store, call, FOLDERS, [user.companyId])],
    ['GET', '/api/edm/documents', 'protected', (call, user) => list(store, call, user)],
    ['POST', '/api/edm/documents', 'protected', (call, user) => create(store, call, user)],
    ['POST', '/api/edm/export', 'protected', (call, user) => startExport(store, jobs, call, user)],
    ['GET', '/api/edm/export/:job_id', 'protected', (call, user) => jobs.show(call, user, 'edm-export')],
  ];
}

const FOLDERS = 'SELECT id, name FROM edm_folders WHERE company_id = ? ORDER BY rowid';

const COLUMNS = `edm_documents.id AS id, title, folder_id, length(CAST(content AS BLOB)) AS bytes, sha256, created_at`;

/** Lists what the folder of the job's input holds, or all folders of the company without one. */
export function exportDocuments(store: Store, run: JobRun): JobOutput {
  const { folder_id } = JSON.parse(run.input) as { folder_id: string | null };
  const documents = store.all(
    `SELECT ${COLUMNS}, name AS folder FROM edm_documents JOIN edm_folders ON edm_folders.id = folder_id
     WHERE edm_documents.company_id = ? AND folder_id = coalesce(?, folder_id) ORDER BY edm_documents.rowid`,
    run.companyId,
    folder_id,
  );
  return { result: { folder_id, count: documents.length, documents } };
}

function list(store: Store, call: Call, user: User): Answer {
  const select = `SELECT ${COLUMNS} FROM edm_documents WHERE company_id = ?
    AND folder_id = coalesce(?, folder_id) AND title LIKE ? ESCAPE '\\' ORDER BY rowid`;
  return page(store, call, select, [user.companyId, call.query.get('folder_id'), searchPattern(call)]);
}

async function create(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json();
  const title = text(body, 'title');
  const content = optionalText(body, 'content') ?? '';
  const folder = folderOf(store, body, user);
  if (folder === null) throw new Fault(400, '"folder_id" is required');
  const id = randomUUID();
  const sha256 = createHash('sha256').update(content).digest('hex');
  store.run(
    'INSERT INTO edm_documents VALUES (?, ?, ?, ?, ?, ?, ?)',
    id,
    user.companyId,
    folder,
    title,
    content,
    sha256,
    now(),
  );
  audit(store, user, 'edm-document.create', id);
  return data(store.one(`SELECT ${COLUMNS} FROM edm_documents WHERE id = ?`, id), 201);
}

async function startExport(store: Store, jobs: Jobs, call: Call, user: User): Promise<Answer> {
  const folder_id = folderOf(store, await call.json(), user);
  return jobs.start(user, 'edm-export', JSON.stringify({ folder_id }));
}

function folderOf(store: Store, body: Fields, user: User): string | null {
  const id = optionalText(body, 'folder_id') ?? null;
  const known = 'SELECT 1 FROM edm_folders WHERE id = ? AND company_id = ?';
  if (id !== null && store.one(known, id, user.companyId) === undefined) {
    throw new Fault(400, '"folder_id" is no folder of the company');
  }
  return id;
}
