import { createPublicKey, hash, verify } from 'node:crypto';
import { download } from '../download.ts';
import type { AuthenticatedRequest, SandboxRequest, SandboxRoute } from '../request.ts';
import { listResource, type Resource, readResource } from '../resource.ts';
import { dataResponse, requireFound, type SandboxResponse } from '../response.ts';

const DOCUMENTS: Resource = {
  table: 'document',
  columns: 'id AS uuid, title, length(bytes) AS bytes, signer_name, signer_email, signed_at, certificate_id',
  searchExpression: 'title',
};

/** No X.509 but bare public keys: nobody vouches for a sandbox. */
const CERTIFICATES: Resource = { table: 'certificate', columns: 'id, subject, type', searchExpression: 'subject' };

/** Signed documents. Who knows a uuid may download and verify without a token, of whatever company. */
export const documentRoutes: readonly SandboxRoute[] = [
  ['GET /api/v4/documents', 'protected', listResource(DOCUMENTS)],
  ['GET /api/v4/documents/:id', 'protected', showDocument],
  ['GET /api/v4/documents/:id/download', 'public', download('document')],
  ['GET /api/v4/attachments/:id/download', 'public', download('attachment')],
  ['GET /api/v4/verify/:id', 'public', verifyDocument],
  ['GET /api/v1/certificates', 'protected', listResource(CERTIFICATES)],
  ['GET /api/v1/certificates/:id/download', 'public', download('certificate')],
];

function showDocument(call: AuthenticatedRequest): SandboxResponse {
  const columns = 'id AS uuid, filename, media_type, length(bytes) AS bytes';
  const attachments = call.store.all(`SELECT ${columns} FROM attachment WHERE document_id = ?`, call.id);
  return dataResponse({ ...readResource(call, DOCUMENTS, call.id), attachments });
}

interface SignedDocument {
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  readonly pem: Uint8Array;
}

/** Checks the detached signature over the bytes as they are stored now. */
function verifyDocument({ store, id }: SandboxRequest): SandboxResponse {
  const row = store.one<SignedDocument>(
    `SELECT document.bytes, signature, certificate.bytes AS pem, signer_name, signer_email, signed_at, certificate_id
     FROM document JOIN certificate ON certificate.id = certificate_id WHERE document.id = ?`,
    id,
  );
  const { bytes, signature, pem, ...signed } = requireFound(row, 'document');
  return dataResponse({
    valid: verify('sha256', bytes, createPublicKey(Buffer.from(pem)), signature),
    algorithm: 'ECDSA P-256 with SHA-256',
    sha256: hash('sha256', bytes),
    ...signed,
  });
}
