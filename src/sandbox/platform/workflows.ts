import { randomUUID } from 'node:crypto';
import { type Answer, data, Fault, found } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, email, type Fields, optionalText, text, type User } from '../call.ts';
import { page, searchPattern } from '../page.ts';
import type { Route } from '../server.ts';
import { now, type Row, type Store } from '../store.ts';

const COLUMNS = 'id, name, status, document_uuid, signers, created_at, completed_at';

/** Who is to sign what. A workflow made here stays a draft: the sandbox has nobody to sign it. */
export function workflowRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/workflows', 'protected', (call, user) => list(store, call, user)],
    ['POST', '/api/workflows', 'protected', (call, user) => create(store, call, user)],
    ['GET', '/api/workflows/:id', 'protected', (call, user) => data(workflowOf(store, call.param('id'), user))],
    ['GET', '/api/workflows/completed/documents/list', 'protected', (_call, user) => completed(store, user)],
  ];
}

function list(store: Store, call: Call, user: User): Answer {
  const select = `SELECT ${COLUMNS} FROM workflows WHERE company_id = ? AND name LIKE ? ESCAPE '\\' ORDER BY rowid`;
  return page(store, call, select, [user.companyId, searchPattern(call)], show);
}

async function create(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json();
  const name = text(body, 'name');
  const signers = signersOf(body);
  const document = optionalText(body, 'document_uuid') ?? null;
  const known = 'SELECT 1 FROM documents WHERE uuid = ? AND company_id = ?';
  if (document !== null && store.one(known, document, user.companyId) === undefined) {
    throw new Fault(400, '"document_uuid" is no document of the company');
  }
  const id = randomUUID();
  const insert = "INSERT INTO workflows VALUES (?, ?, ?, 'draft', ?, ?, ?, NULL)";
  store.run(insert, id, user.companyId, name, document, JSON.stringify(signers), now());
  audit(store, user, 'workflow.create', id);
  return data(workflowOf(store, id, user), 201);
}

function signersOf(body: Fields): unknown[] {
  const signers = body['signers'] ?? [];
  if (!Array.isArray(signers)) throw new Fault(400, '"signers" must be an array');
  return signers.map((signer: unknown) => {
    const fields = (typeof signer === 'object' && signer !== null ? signer : {}) as Fields;
    return { name: text(fields, 'name'), email: email(fields, 'email') };
  });
}

function completed(store: Store, user: User): Answer {
  const documents = store.all(
    `SELECT workflows.id AS workflow_id, workflows.name AS workflow, uuid, title, completed_at,
       '/api/v4/documents/' || uuid || '/download' AS download
     FROM workflows JOIN documents ON uuid = document_uuid
     WHERE workflows.company_id = ? AND status = 'completed' ORDER BY completed_at DESC, uuid`,
    user.companyId,
  );
  return { status: 200, body: { status: 'success', message: 'documents of completed workflows', data: documents } };
}

function workflowOf(store: Store, id: string, user: User): unknown {
  const select = `SELECT ${COLUMNS} FROM workflows WHERE id = ? AND company_id = ?`;
  return show(found(store.one(select, id, user.companyId), 'workflow'));
}

function show(row: Row): unknown {
  return { ...row, signers: JSON.parse(String(row['signers'])) };
}
