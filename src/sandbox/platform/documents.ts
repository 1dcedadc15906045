import { createHash, createPublicKey, verify } from 'node:crypto';
import { type Answer, data, found } from '../answer.ts';
import type { Call, User } from '../call.ts';
import { download } from '../download.ts';
import { page } from '../page.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

const COLUMNS = `uuid, title, length(bytes) AS bytes, signer_name, signer_email, signed_at,
  certificate_id AS certificate`;

/** Signed documents. Who knows a uuid may download and verify without a token, of whatever company. */
export function documentRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/v4/documents', 'protected', (call, user) => list(store, call, user)],
    ['GET', '/api/v4/documents/:uuid', 'protected', (call, user) => show(store, call, user)],
    ['GET', '/api/v4/documents/:uuid/download', 'public', (call: Call) => downloadDocument(store, call)],
    ['GET', '/api/v4/verify/:uuid', 'public', (call: Call) => verifyDocument(store, call)],
    ['GET', '/api/v4/attachments/:att_uuid/download', 'public', (call: Call) => downloadAttachment(store, call)],
  ];
}

function list(store: Store, call: Call, user: User): Answer {
  return page(store, call, `SELECT ${COLUMNS} FROM documents WHERE company_id = ? ORDER BY rowid`, [user.companyId]);
}

function show(store: Store, call: Call, user: User): Answer {
  const uuid = call.param('uuid');
  const select = `SELECT ${COLUMNS} FROM documents WHERE uuid = ? AND company_id = ?`;
  const document = found(store.one(select, uuid, user.companyId), 'document');
  const attachments = store.all(
    'SELECT uuid, filename, media_type, length(bytes) AS bytes FROM attachments WHERE document_uuid = ?',
    uuid,
  );
  return data({ ...document, attachments });
}

function downloadDocument(store: Store, call: Call): Answer {
  const select = 'SELECT uuid, bytes FROM documents WHERE uuid = ?';
  const { uuid, bytes } = found(store.one<{ uuid: string; bytes: Uint8Array }>(select, call.param('uuid')), 'document');
  return download(call, { filename: `${uuid}.pdf`, mediaType: 'application/pdf', bytes });
}

function downloadAttachment(store: Store, call: Call): Answer {
  const attachment = store.one<{ filename: string; media_type: string; bytes: Uint8Array }>(
    'SELECT filename, media_type, bytes FROM attachments WHERE uuid = ?',
    call.param('att_uuid'),
  );
  const { filename, media_type, bytes } = found(attachment, 'attachment');
  return download(call, { filename, mediaType: media_type, bytes });
}

interface Signed {
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  readonly signer_name: string;
  readonly signer_email: string;
  readonly signed_at: string;
  readonly certificate_id: string;
  readonly subject: string;
  readonly pem: string;
}

/** Checks the detached signature over the bytes as they are stored now, by the key in the certificate. */
function verifyDocument(store: Store, call: Call): Answer {
  const row = store.one<Signed>(
    `SELECT bytes, signature, signer_name, signer_email, signed_at, certificate_id, subject, pem
     FROM documents JOIN certificates ON certificates.id = certificate_id WHERE uuid = ?`,
    call.param('uuid'),
  );
  const signed = found(row, 'document');
  return data({
    valid: verify('sha256', signed.bytes, createPublicKey(signed.pem), signed.signature),
    algorithm: 'ECDSA P-256 with SHA-256',
    sha256: createHash('sha256').update(signed.bytes).digest('hex'),
    signer: {
      name: signed.signer_name,
      email: signed.signer_email,
      certificate: signed.certificate_id,
      certificate_subject: signed.subject,
    },
    signed_at: signed.signed_at,
  });
}
