import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createPdf } from './pdf.ts';
import { SAMPLES } from './samples.ts';
import type { Store } from './store.ts';

/** Adds a key pair, three documents signed with it, and an attachment. The private key is not stored. */
export function seedDocuments(store: Store, companyId: string): void {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  store.insert('certificate', {
    id: SAMPLES.certificate,
    company_id: companyId,
    subject: 'Acme Signing (sandbox)',
    type: 'public key, ECDSA P-256',
    filename: `${SAMPLES.certificate}.public-key.pem`,
    media_type: 'application/x-pem-file',
    bytes: Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })),
  });
  for (const draft of DRAFTS) seedDocument(store, companyId, draft, privateKey);
  store.insert('attachment', {
    id: SAMPLES.attachmentUuid,
    document_id: SAMPLES.documentUuid,
    filename: 'price-list.csv',
    media_type: 'text/csv; charset=utf-8',
    bytes: Buffer.from('article,price_eur\nseat per month,12.00\nseal,90.00\n'),
  });
}

const DRAFTS = [
  {
    uuid: SAMPLES.documentUuid,
    title: 'Framework agreement',
    lines: ['The agreement is made by Acme and Partner Ltd.', 'The agreement is in force until 2027-12-31.'],
  },
  {
    uuid: SAMPLES.secondDocumentUuid,
    title: 'Order 2026-01',
    lines: ['Partner Ltd orders 25 seats from 2026-02-01.', 'The price is 12.00 EUR a seat and month.'],
  },
  {
    uuid: SAMPLES.tamperedDocumentUuid,
    title: 'Invoice 4711',
    lines: ['Acme GmbH asks for payment by 2026-02-15.', 'The amount due is 100.00 EUR.'],
  },
];

function seedDocument(store: Store, companyId: string, draft: (typeof DRAFTS)[number], privateKey: KeyObject): void {
  const original = createPdf(draft.title, draft.lines);
  // Only the invoice contains this amount. It is changed after the signature, so that its verification fails.
  const tamper = (text: string) => text.replace('100.00', '900.00');
  store.insert('document', {
    id: draft.uuid,
    company_id: companyId,
    title: draft.title,
    text: tamper(draft.lines.join('\n')),
    filename: `${draft.uuid}.pdf`,
    media_type: 'application/pdf',
    bytes: Buffer.from(tamper(original.toString('latin1')), 'latin1'),
    signature: sign('sha256', original, privateKey),
    certificate_id: SAMPLES.certificate,
    signer_name: 'Ada Lind',
    signer_email: 'ada.lind@partner.example',
    signed_at: '2026-01-07T15:30:00.000Z',
  });
}
