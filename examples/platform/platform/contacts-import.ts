import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { isEmail } from '../fields.ts';
import { enqueueJob, type SandboxJob, showJob } from '../jobs.ts';
import type { AuthenticatedRequest, SandboxRoute } from '../request.ts';
import { SandboxError, type SandboxResponse } from '../response.ts';
import { now, type Store } from '../store.ts';

const STEP_ROWS = 500;
/** The most rejected rows that are listed; all of them are counted. */
const MAX_ERRORS = 1000;

const CSV_EXAMPLE = 'name,email,phone\nMia Berg,mia.berg@partner.example,\n';

/** Routes that import contacts from a CSV file with the columns `name`, `email` and, optionally, `phone`. */
export const importRoutes: readonly SandboxRoute[] = [
  [
    'POST /api/contacts/imports/csv',
    'protected',
    startImport,
    {
      summary: 'Import contacts in a job',
      body: { 'text/csv': CSV_EXAMPLE, 'multipart/form-data': { file: CSV_EXAMPLE } },
      status: 202,
    },
  ],
  ['GET /api/contacts/imports/:id', 'protected', showJob('contacts-import'), { summary: 'Poll an import' }],
];

interface ImportCount {
  total: number;
  imported: number;
  rejected: number;
  /** Row 1 is the header, as in a spreadsheet. Empty lines have no number. */
  readonly errors: { readonly row: number; readonly message: string }[];
}

/**
 * Runs the import job: adds a contact for each row or rejects the row with a reason. A restarted job continues after the rows
 * that its output counts.
 */
export function* importContacts(store: Store, job: SandboxJob): Generator<object> {
  const count: ImportCount = { total: 0, imported: 0, rejected: 0, errors: [], ...JSON.parse(job.output) };
  const options = { bom: true, trim: true, skip_empty_lines: true, relax_column_count: true };
  const rows: Row[] = parse(job.input, { ...options, columns: readHeader });
  do {
    for (const row of rows.slice(count.total, count.total + STEP_ROWS)) importRow(store, job.companyId, count, row);
    yield count;
  } while (count.total < rows.length);
}

async function startImport(request: AuthenticatedRequest): Promise<SandboxResponse> {
  const type = request.headers['content-type'] ?? '';
  const csv = /^multipart\//i.test(type) ? await readFormFile(request.body, type) : request.body;
  if (csv.trim() === '') throw new SandboxError(400, 'the CSV file is empty');
  return enqueueJob(request, 'contacts-import', csv);
}

/** Returns the only file of a form, or its only field, of any name. Throws 415 or 400 if there is not exactly one. */
async function readFormFile(body: string, type: string): Promise<string> {
  if (!/^multipart\/form-data *;/i.test(type)) throw new SandboxError(415, `send multipart/form-data, not "${type}"`);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new SandboxError(400, 'the form is malformed');
  });
  const parts = form.values().toArray();
  const files = parts.filter((part) => typeof part !== 'string');
  const [csv, ...others] = files.length > 0 ? files : parts;
  if (csv === undefined || others.length > 0) throw new SandboxError(400, 'send exactly one CSV file in the form');
  return typeof csv === 'string' ? csv : csv.text();
}

type Row = Readonly<Record<string, string>>;

function readHeader(header: readonly string[]): string[] {
  const columns = header.map((name) => name.toLowerCase());
  if (columns.includes('name') && columns.includes('email')) return columns;
  throw new Error('the first row must name the columns name and email');
}

function importRow(store: Store, companyId: string, count: ImportCount, row: Row): void {
  const message = insertOrReject(store, companyId, row);
  count.total += 1;
  count[message === undefined ? 'imported' : 'rejected'] += 1;
  if (message !== undefined && count.errors.length < MAX_ERRORS) count.errors.push({ row: count.total + 1, message });
}

/** Adds a contact, or returns why the row is rejected. */
function insertOrReject(store: Store, company_id: string, row: Row): string | undefined {
  const { name = '', phone = '' } = row;
  const email = (row['email'] ?? '').toLowerCase();
  if (name === '') return 'the name is missing';
  if (!isEmail(email)) return `"${email}" is not an e-mail address`;
  const contact = { id: randomUUID(), company_id, name, email, phone, created_at: now() };
  return store.insert('contact', contact) ? undefined : `a contact with the address ${email} already exists`;
}
