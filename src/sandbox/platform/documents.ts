import { createPublicKey, hash, verify } from 'node:crypto';
import { type Answer, data, found } from '../answer.ts';
import type { Call, Route, UserCall } from '../call.ts';
import { download } from '../download.ts';
import { list, type Resource, read } from '../resource.ts';

const DOCUMENTS: Resource = {
  table: 'document',
  columns: 'id AS uuid, title, length(bytes) AS bytes, signer_name, signer_email, signed_at, certificate_id',
  searched: 'title',
};

/** No X.509 but bare public keys: nobody vouches for a sandbox. */
const CERTIFICATES: Resource = { table: 'certificate', columns: 'id, subject, type', searched: 'subject' };

/** Signed documents. Who knows a uuid may download and verify without a token, of whatever company. */
export const documentRoutes: readonly Route[] = [
  ['GET /api/v4/documents', 'protected', list(DOCUMENTS)],
  ['GET /api/v4/documents/:id', 'protected', show],
  ['GET /api/v4/documents/:id/download', 'public', download('document')],
  ['GET /api/v4/attachments/:id/download', 'public', download('attachment')],
  ['GET /api/v4/verify/:id', 'public', verifyDocument],
  ['GET /api/v1/certificates', 'protected', list(CERTIFICATES)],
  ['GET /api/v1/certificates/:id/download', 'public', download('certificate')],
];

function show(call: UserCall): Answer {
  const columns = 'id AS uuid, filename, media_type, length(bytes) AS bytes';
  const attachments = call.store.all(`SELECT ${columns} FROM attachment WHERE document_id = ?`, call.id);
  return data({ ...read(call, DOCUMENTS, call.id), attachments });
}

interface Signed {
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  readonly pem: Uint8Array;
}

/** Checks the detached signature over the bytes as they are stored now. */
function verifyDocument({ store, id }: Call): Answer {
  const row = store.one<Signed>(
    `SELECT document.bytes, signature, certificate.bytes AS pem, signer_name, signer_email, signed_at, certificate_id
     FROM document JOIN certificate ON certificate.id = certificate_id WHERE document.id = ?`,
    id,
  );
  const { bytes, signature, pem, ...signed } = found(row, 'document');
  return data({
    valid: verify('sha256', bytes, createPublicKey(Buffer.from(pem)), signature),
    algorithm: 'ECDSA P-256 with SHA-256',
    sha256: hash('sha256', bytes),
    ...signed,
  });
}
