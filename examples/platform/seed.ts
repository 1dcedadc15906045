import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { hashPassword } from './passwords.ts';
import { DEMO_ACCOUNTS, SAMPLES, SEEDED_AT } from './samples.ts';
import { seedDocuments } from './seed-documents.ts';
import type { SqlValue, Store } from './store.ts';

const ACME = 'acme';
const GLOBEX = 'globex';

/** Fills an empty database with two companies and their data. Leaves any other database unchanged. */
export function seed(store: Store): void {
  if (store.one('SELECT 1 FROM company') !== undefined) return;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  store.transaction(() => {
    store.insert('token_key', { private_pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    seedAccounts(store);
    seedDocuments(store, ACME);
    for (const [table, rows] of Object.entries(ROWS)) {
      for (const row of rows) store.insert(table, { id: randomUUID(), ...row });
    }
  });
}

function seedAccounts(store: Store): void {
  for (const { email, password, role, totpSecret } of DEMO_ACCOUNTS) {
    const company_id = email.endsWith('@globex.example') ? GLOBEX : ACME;
    const account = { id: randomUUID(), company_id, email, name: `Demo ${role}`, role, created_at: SEEDED_AT };
    const factor = totpSecret && { totp_secret: totpSecret, totp_step: 0, totp_confirmed_at: SEEDED_AT };
    store.insert('account', { ...account, password: hashPassword(password), email_verified_at: SEEDED_AT, ...factor });
  }
}

const settings = JSON.stringify({ locale: 'en', timezone: 'Europe/Berlin', reminder_days: 3 });
const license = JSON.stringify({ plan: 'business', seats: 25, expires_on: '2027-12-31' });

const base = { company_id: ACME, created_at: SEEDED_AT };
const contract = { ...base, folder_id: SAMPLES.folderId };
const workflow = { ...base, signer_email: 'ada.lind@partner.example', status: 'draft' };
const completed = { ...workflow, status: 'completed', completed_at: '2026-01-07T15:30:00.000Z' };

/** More names than fit on one page of a list. */
const NAMES = ['Lind', 'Okafor', 'Moreau', 'Tanaka', 'Novak'].flatMap((last) =>
  ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'].map((first) => `${first} ${last}`),
);

const ROWS: Readonly<Record<string, readonly Readonly<Record<string, SqlValue>>[]>> = {
  company: [
    { id: ACME, name: 'Acme GmbH', settings, license },
    { id: GLOBEX, name: 'Globex Ltd', settings, license },
  ],
  contact: NAMES.map((name, index) => ({
    ...base,
    id: index === 0 ? SAMPLES.contactId : randomUUID(),
    name,
    email: `${name.toLowerCase().replace(' ', '.')}@partner.example`,
    phone: '',
  })),
  workflow: [
    { ...completed, id: SAMPLES.workflowId, name: 'Sign the framework agreement', document_id: SAMPLES.documentUuid },
    { ...completed, name: 'Sign the order for 2026', document_id: SAMPLES.secondDocumentUuid },
    { ...workflow, name: 'Sign the data processing agreement' },
  ],
  edm_folder: [{ company_id: ACME, id: SAMPLES.folderId, name: 'Contracts' }],
  edm_document: [
    { ...contract, id: SAMPLES.edmDocumentId, title: 'Lease', content: 'It began on 2024-03-01.' },
    { ...contract, title: 'Insurance', content: 'It covers fire and water. It was renewed on 2025-11-15.' },
    { ...contract, title: 'Board meeting', content: 'The board met on 2025-12-02.' },
  ],
  event: [{ company_id: ACME, actor: 'sandbox', action: 'company.create', target: ACME, at: SEEDED_AT }],
};
