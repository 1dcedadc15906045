import { createPublicKey, hash, verify } from 'node:crypto';
import { download } from '../download.ts';
import type { AuthenticatedRequest, SandboxRequest, SandboxRoute } from '../request.ts';
import { LIST_QUERY, listResource, type Resource, readResource } from '../resource.ts';
import { dataResponse, requireFound, type SandboxResponse } from '../response.ts';
import { SAMPLES } from '../samples.ts';

const DOCUMENTS: Resource = {
  table: 'document',
  columns: 'id AS uuid, title, length(bytes) AS bytes, signer_name, signer_email, signed_at, certificate_id',
  searchExpression: 'title',
};

/** Public keys without X.509, because no authority certifies a sandbox. */
const CERTIFICATES: Resource = { table: 'certificate', columns: 'id, subject, type', searchExpression: 'subject' };

/** Routes of signed documents. Downloads and verification need only a uuid, no token. */
export const documentRoutes: readonly SandboxRoute[] = [
  ['GET /api/v4/documents', 'protected', listResource(DOCUMENTS), { summary: 'List documents', query: LIST_QUERY }],
  ['GET /api/v4/documents/:id', 'protected', showDocument, { summary: 'Read a document', id: SAMPLES.documentUuid }],
  [
    'GET /api/v4/documents/:id/download',
    'public',
    download('document'),
    { summary: 'Download a document', id: SAMPLES.documentUuid },
  ],
  [
    'GET /api/v4/attachments/:id/download',
    'public',
    download('attachment'),
    { summary: 'Download an attachment', id: SAMPLES.attachmentUuid },
  ],
  [
    'GET /api/v4/verify/:id',
    'public',
    verifyDocument,
    { summary: 'Verify the signature of a document', id: SAMPLES.documentUuid },
  ],
  [
    'GET /api/v1/certificates',
    'protected',
    listResource(CERTIFICATES),
    { summary: 'List certificates', query: LIST_QUERY },
  ],
  [
    'GET /api/v1/certificates/:id/download',
    'public',
    download('certificate'),
    { summary: 'Download a certificate', id: SAMPLES.certificate },
  ],
];

function showDocument(request: AuthenticatedRequest): SandboxResponse {
  const columns = 'id AS uuid, filename, media_type, length(bytes) AS bytes';
  const attachments = request.store.all(`SELECT ${columns} FROM attachment WHERE document_id = ?`, request.id);
  return dataResponse({ ...readResource(request, DOCUMENTS, request.id), attachments });
}

interface SignedDocument {
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  readonly pem: Uint8Array;
}

/** Verifies the detached signature of the stored bytes. */
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
