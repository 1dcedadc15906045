import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createPdf } from './pdf.ts';
import { SAMPLES } from './samples.ts';
import type { Store } from './store.ts';
import { createCertificate } from './x509.ts';

const VALID_FROM = new Date('2026-01-01T00:00:00Z');
const VALID_TO = new Date('2036-01-01T00:00:00Z');
const SIGNED_AT = '2026-01-07T15:30:00.000Z';

/** One certificate, three documents really signed with it, and an attachment. The private key is forgotten after. */
export function seedDocuments(store: Store, companyId: string): void {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const commonName = 'Acme Signing (sandbox)';
  const pem = createCertificate({
    commonName,
    organisation: 'Acme GmbH',
    validFrom: VALID_FROM,
    validTo: VALID_TO,
    publicKey,
    privateKey,
  });
  const insert = 'INSERT INTO certificates VALUES (?, ?, ?, ?, ?)';
  store.run(insert, SAMPLES.certificate, companyId, commonName, pem, VALID_TO.toISOString());
  for (const draft of DRAFTS) seedDocument(store, companyId, draft, privateKey);
  store.run(
    "INSERT INTO attachments VALUES (?, ?, 'price-list.csv', 'text/csv; charset=utf-8', ?)",
    SAMPLES.attachmentUuid,
    SAMPLES.documentUuid,
    Buffer.from('article,price_eur\nseat per month,12.00\nseal,90.00\n'),
  );
}

interface Draft {
  readonly uuid: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** What is put in the place of what, once the signature is made. */
  readonly forgery?: readonly [string, string];
}

const DRAFTS: readonly Draft[] = [
  {
    uuid: SAMPLES.documentUuid,
    title: 'Framework agreement',
    lines: [
      'This agreement is made between Acme GmbH and Partner Ltd.',
      'It begins on 2026-01-07 and ends on 2027-12-31.',
      'Each order under this agreement is signed by both parties.',
      'Either party may end the agreement with notice of three months.',
    ],
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
    forgery: ['100.00', '900.00'],
  },
];

function seedDocument(store: Store, companyId: string, draft: Draft, privateKey: KeyObject): void {
  const original = createPdf(draft.title, draft.lines);
  const signature = sign('sha256', original, privateKey);
  const [from, to] = draft.forgery ?? ['', ''];
  const stored = Buffer.from(original.toString('latin1').replace(from, to), 'latin1');
  store.run(
    "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, 'Ada Lind', 'ada.lind@partner.example', ?)",
    draft.uuid,
    companyId,
    draft.title,
    draft.lines.join('\n').replace(from, to),
    stored,
    signature,
    SAMPLES.certificate,
    SIGNED_AT,
  );
}
