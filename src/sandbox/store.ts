import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** The sandbox's whole state: one SQLite file. Every call is synchronous, so no other request comes in between. */
export interface Store {
  one<T extends object = Row>(sql: string, ...values: SQLInputValue[]): T | undefined;
  all<T extends object = Row>(sql: string, ...values: SQLInputValue[]): T[];
  /** The number of rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** All of it or none of it. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Opens the file, or makes it; `:memory:` keeps nothing. */
export function openStore(file: string): Store {
  const database = new DatabaseSync(file, { timeout: 2000 });
  database.exec(SCHEMA);
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    one: <T extends object>(sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values) as T | undefined,
    all: <T extends object>(sql: string, ...values: SQLInputValue[]) => prepare(sql).all(...values) as T[],
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    transaction: (work) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}

/** The present moment as it is stored: ISO 8601 in UTC, so that order of text is order of time. */
export function now(): string {
  return new Date().toISOString();
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS signing_keys (kid TEXT PRIMARY KEY, private_jwk TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS companies (id TEXT PRIMARY KEY, name TEXT NOT NULL, settings TEXT NOT NULL,
  license TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL, password TEXT NOT NULL,
  email_verified_at TEXT, created_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS factors (id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts,
  kind TEXT NOT NULL, secret TEXT NOT NULL, confirmed_at TEXT, last_step INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS challenges (id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts,
  email_code TEXT, attempts INTEGER NOT NULL DEFAULT 0, expires_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS mailed_tokens (hash TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts,
  purpose TEXT NOT NULL, expires_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS outbox (id TEXT PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL,
  body TEXT NOT NULL, attachments TEXT NOT NULL, created_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS contacts (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT, created_at TEXT NOT NULL, UNIQUE (company_id, email)) STRICT;
CREATE TABLE IF NOT EXISTS certificates (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  subject TEXT NOT NULL, pem TEXT NOT NULL, valid_to TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS documents (uuid TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  title TEXT NOT NULL, text TEXT NOT NULL, bytes BLOB NOT NULL, signature BLOB NOT NULL,
  certificate_id TEXT NOT NULL REFERENCES certificates, signer_name TEXT NOT NULL, signer_email TEXT NOT NULL,
  signed_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS attachments (uuid TEXT PRIMARY KEY, document_uuid TEXT NOT NULL REFERENCES documents,
  filename TEXT NOT NULL, media_type TEXT NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS workflows (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  name TEXT NOT NULL, status TEXT NOT NULL, document_uuid TEXT REFERENCES documents, signers TEXT NOT NULL,
  created_at TEXT NOT NULL, completed_at TEXT) STRICT;
CREATE TABLE IF NOT EXISTS edm_folders (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  name TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS edm_documents (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  folder_id TEXT NOT NULL REFERENCES edm_folders, title TEXT NOT NULL, content TEXT NOT NULL,
  sha256 TEXT NOT NULL, created_at TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  actor TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, output TEXT NOT NULL,
  created_at TEXT NOT NULL) STRICT;
-- apart from the job: saving progress would rewrite the whole input each time
CREATE TABLE IF NOT EXISTS job_inputs (job_id TEXT PRIMARY KEY REFERENCES jobs, input TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS audit_events (id TEXT PRIMARY KEY, company_id TEXT NOT NULL REFERENCES companies,
  actor TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, at TEXT NOT NULL) STRICT;
`;
