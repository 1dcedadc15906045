import { createHash, randomUUID } from 'node:crypto';
import { hashPassword } from './passwords.ts';
import { ACCOUNTS, SAMPLES, SEEDED_AT } from './samples.ts';
import { seedDocuments } from './seed-documents.ts';
import type { Store } from './store.ts';

const ACME = 'acme';
const GLOBEX = 'globex';

/** Fills an empty file with two companies and what a signing platform holds for them; leaves any other as it is. */
export async function seed(store: Store): Promise<void> {
  if (store.one('SELECT 1 FROM companies') !== undefined) return;
  const hashes = await Promise.all(ACCOUNTS.map(({ password }) => hashPassword(password)));
  store.transaction(() => {
    seedCompanies(store);
    seedAccounts(store, hashes);
    seedContacts(store);
    seedDocuments(store, ACME);
    seedWorkflows(store);
    seedEdm(store);
    store.run(
      "INSERT INTO audit_events VALUES (?, ?, 'sandbox', 'company.create', ?, ?)",
      randomUUID(),
      ACME,
      ACME,
      SEEDED_AT,
    );
  });
}

function seedCompanies(store: Store): void {
  const settings = JSON.stringify({ locale: 'en', timezone: 'Europe/Berlin', reminder_days: 3 });
  const license = JSON.stringify({ plan: 'business', seats: 25, expires_on: '2027-12-31' });
  for (const [id, name] of [
    [ACME, 'Acme GmbH'],
    [GLOBEX, 'Globex Ltd'],
  ] as const) {
    store.run('INSERT INTO companies VALUES (?, ?, ?, ?)', id, name, settings, license);
  }
}

function seedAccounts(store: Store, hashes: readonly string[]): void {
  for (const [index, { email, role, totpSecret }] of ACCOUNTS.entries()) {
    const id = randomUUID();
    const [local = '', domain = ''] = email.split('@');
    const company = domain.startsWith(GLOBEX) ? GLOBEX : ACME;
    const name = `Demo ${local}`;
    const insert = 'INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
    store.run(insert, id, company, email, name, role, hashes[index] ?? '', SEEDED_AT, SEEDED_AT);
    if (totpSecret === undefined) continue;
    const factor = "INSERT INTO factors VALUES (?, ?, 'totp', ?, ?, 0, 0, ?)";
    store.run(factor, randomUUID(), id, totpSecret, SEEDED_AT, SEEDED_AT);
  }
}

/** More contacts than a page holds. */
function seedContacts(store: Store): void {
  const first = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'];
  const last = ['Lind', 'Okafor', 'Moreau', 'Tanaka', 'Novak'];
  const names = last.flatMap((family) => first.map((given) => `${given} ${family}`));
  for (const [index, name] of names.entries()) {
    const id = index === 0 ? SAMPLES.contactId : randomUUID();
    const email = `${name.toLowerCase().replace(' ', '.')}@partner.example`;
    const insert = 'INSERT INTO contacts VALUES (?, ?, ?, ?, NULL, ?)';
    store.run(insert, id, ACME, name, email, SEEDED_AT);
  }
}

function seedWorkflows(store: Store): void {
  const signers = JSON.stringify([{ name: 'Ada Lind', email: 'ada.lind@partner.example' }]);
  const done = '2026-01-07T15:30:00.000Z';
  for (const [id, name, status, document] of [
    [SAMPLES.workflowId, 'Sign the framework agreement', 'completed', SAMPLES.documentUuid],
    [randomUUID(), 'Sign the order for 2026', 'completed', SAMPLES.secondDocumentUuid],
    [randomUUID(), 'Sign the data processing agreement', 'draft', null],
  ] as const) {
    const insert = 'INSERT INTO workflows VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
    const completedAt = status === 'completed' ? done : null;
    store.run(insert, id, ACME, name, status, document, signers, SEEDED_AT, completedAt);
  }
}

function seedEdm(store: Store): void {
  const contracts = SAMPLES.folderId;
  const minutes = randomUUID();
  store.run('INSERT INTO edm_folders VALUES (?, ?, ?)', contracts, ACME, 'Contracts');
  store.run('INSERT INTO edm_folders VALUES (?, ?, ?)', minutes, ACME, 'Minutes');
  for (const [id, folder, title, content] of [
    [SAMPLES.edmDocumentId, contracts, 'Lease', 'The lease of the office began on 2024-03-01. It ends on 2029-02-28.'],
    [randomUUID(), contracts, 'Insurance', 'The insurance covers fire and water. It was renewed on 2025-11-15.'],
    [randomUUID(), minutes, 'Board meeting', 'The board met on 2025-12-02 and approved the budget of 2026.'],
  ] as const) {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const insert = 'INSERT INTO edm_documents VALUES (?, ?, ?, ?, ?, ?, ?)';
    store.run(insert, id, ACME, folder, title, content, sha256, SEEDED_AT);
  }
}
