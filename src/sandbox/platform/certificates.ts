import { type Answer, found } from '../answer.ts';
import type { Call } from '../call.ts';
import { download } from '../download.ts';
import { page } from '../page.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

/** The certificates documents are signed with: self-signed X.509, without private keys. */
export function certificateRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/v1/certificates', 'protected', (call, user) => page(store, call, LIST, [user.companyId])],
    ['GET', '/api/v1/certificates/:certificate/download', 'public', (call: Call) => downloadCertificate(store, call)],
  ];
}

const LIST = 'SELECT id, subject, valid_to FROM certificates WHERE company_id = ? ORDER BY rowid';

function downloadCertificate(store: Store, call: Call): Answer {
  const select = 'SELECT id, pem FROM certificates WHERE id = ?';
  const row = store.one<{ id: string; pem: string }>(select, call.param('certificate'));
  const { id, pem } = found(row, 'certificate');
  return download(call, { filename: `${id}.pem`, mediaType: 'application/x-pem-file', bytes: Buffer.from(pem) });
}
