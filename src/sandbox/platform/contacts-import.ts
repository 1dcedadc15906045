import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { type Answer, Fault } from '../answer.ts';
import { type Call, isEmail, MEGABYTE, type User, utf8 } from '../call.ts';
import type { JobOutput, JobRun, Jobs } from '../jobs.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';
import { addContact } from './contacts.ts';

const MAX_CSV_BYTES = 20 * MEGABYTE;
const CHUNK_BYTES = 64 * 1024;
/** Rows in one transaction; between two of them other requests get their turn. */
const BATCH_ROWS = 200;
/** Rejections are all counted, but only so many are listed. */
const MAX_ERRORS = 1000;

/** The import of contacts from a CSV file with the columns name, email and perhaps phone. */
export function importRoutes(jobs: Jobs): readonly Route[] {
  return [
    ['POST', '/api/contacts/imports/csv', 'protected', (call, user) => start(jobs, call, user)],
    ['GET', '/api/contacts/imports/:job_id', 'protected', (call, user) => jobs.show(call, user, 'contacts-import')],
  ];
}

interface Count {
  readonly total: number;
  readonly imported: number;
  readonly rejected: number;
  /** Row 1 is the header, as in a spreadsheet; empty lines are not counted. */
  readonly errors: readonly { readonly row: number; readonly message: string }[];
}

/** Imports the rows that an earlier run has not; rows and count are saved together, so none is imported twice. */
export async function importContacts(store: Store, run: JobRun): Promise<JobOutput> {
  let count: Count = { total: 0, imported: 0, rejected: 0, errors: [], ...run.output };
  let before = count.total;
  let batch: Record<string, string>[] = [];
  const flush = () => {
    count = store.transaction(() => {
      const next = batch.reduce((sum, record) => importRow(store, run.companyId, sum, record), count);
      run.save({ ...next });
      return next;
    });
    batch = [];
  };
  for await (const record of records(run.input)) {
    if (before-- > 0) continue;
    batch.push(record as Record<string, string>);
    if (batch.length < BATCH_ROWS) continue;
    flush();
    await setImmediate();
    run.signal.throwIfAborted();
  }
  flush();
  return { ...count };
}

async function start(jobs: Jobs, call: Call, user: User): Promise<Answer> {
  const bytes = await call.bytes(MAX_CSV_BYTES);
  const type = call.headers['content-type'] ?? '';
  const csv = utf8(type.startsWith('multipart/form-data') ? await filePart(bytes, type) : bytes);
  if (csv.trim() === '') throw new Fault(400, 'the CSV file is empty');
  return jobs.start(user, 'contacts-import', csv);
}

async function filePart(bytes: Buffer<ArrayBuffer>, type: string): Promise<Uint8Array> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Fault(400, 'the multipart body cannot be read');
  });
  const files = [...form.values()].filter((part) => typeof part !== 'string');
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Fault(400, 'the multipart body must have one file part');
  return new Uint8Array(await file.arrayBuffer());
}

function records(csv: string): AsyncIterable<unknown> {
  const bytes = Buffer.from(csv);
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  );
  const options = { bom: true, trim: true, skip_empty_lines: true, relax_column_count: true, columns: readHeader };
  return Readable.from(chunks).pipe(parse(options));
}

function readHeader(header: readonly string[]): string[] {
  const columns = header.map((name) => name.toLowerCase());
  if (columns.includes('name') && columns.includes('email')) return columns;
  throw new Error('the first row must name the columns name and email');
}

function importRow(store: Store, companyId: string, count: Count, record: Readonly<Record<string, string>>): Count {
  const total = count.total + 1;
  const message = rejection(store, companyId, record);
  if (message === undefined) return { ...count, total, imported: count.imported + 1 };
  const isListed = count.errors.length < MAX_ERRORS;
  const errors = isListed ? [...count.errors, { row: total + 1, message }] : count.errors;
  return { ...count, total, rejected: count.rejected + 1, errors };
}

/** Adds the contact, or says why not. */
function rejection(store: Store, companyId: string, record: Readonly<Record<string, string>>): string | undefined {
  const name = record['name'] ?? '';
  const email = (record['email'] ?? '').toLowerCase();
  if (name === '') return 'the name is missing';
  if (!isEmail(email)) return `"${email}" is not an e-mail address`;
  const id = addContact(store, companyId, { name, email, phone: record['phone'] || undefined });
  return id === undefined ? `there is a contact with the address ${email}` : undefined;
}
