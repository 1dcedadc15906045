import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';

export type SqlValue = SQLInputValue;
type Row = Readonly<Record<string, SQLOutputValue>>;

/** The state of the sandbox in one SQLite database. Every operation is synchronous, so requests cannot interleave. */
export type Store = ReturnType<typeof openStore>;

/** Opens the database, or creates it. `:memory:` stores nothing on disk. */
export function openStore(file: string) {
  const database = new DatabaseSync(file, { timeout: 2000 });
  database.exec(SCHEMA);
  /** Runs a statement and returns the number of changed rows. */
  const run = (sql: string, ...values: SqlValue[]) => Number(database.prepare(sql).run(...values).changes);
  return {
    one: <T extends object = Row>(sql: string, ...values: SqlValue[]) =>
      database.prepare(sql).get(...values) as T | undefined,
    all: <T extends object = Row>(sql: string, ...values: SqlValue[]) => database.prepare(sql).all(...values) as T[],
    run,
    /** Adds a row. Returns false if a unique value already exists. */
    insert: (table: string, row: Readonly<Record<string, SqlValue>>) => {
      const columns = Object.keys(row).map((name) => `"${name}"`);
      const placeholders = columns.map(() => '?');
      return run(`INSERT OR IGNORE INTO ${table} (${columns}) VALUES (${placeholders})`, ...Object.values(row)) === 1;
    },
    /** Runs the work in a transaction; rolls back if it throws. */
    transaction: <T>(work: () => T): T => {
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

/** Returns the current time as the database stores it: ISO 8601 in UTC, which sorts by time. */
export function now(): string {
  return minutesFromNow(0);
}

/** Returns the time in `minutes` from now, as the database stores it. */
export function minutesFromNow(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

// SQLite stores each value with its own type, so the columns declare none.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS token_key (private_pem);
CREATE TABLE IF NOT EXISTS company (id PRIMARY KEY, name, settings, license);
CREATE TABLE IF NOT EXISTS account (id PRIMARY KEY, company_id, email UNIQUE, name, role, password, email_verified_at,
  totp_secret, totp_step, totp_confirmed_at, created_at);
CREATE TABLE IF NOT EXISTS ticket (hash PRIMARY KEY, account_id, purpose, expires_at);
CREATE TABLE IF NOT EXISTS email_factor (account_id PRIMARY KEY, confirmed_at);
CREATE TABLE IF NOT EXISTS one_time_code (account_id, purpose, code, attempts, expires_at,
  PRIMARY KEY (account_id, purpose));
CREATE TABLE IF NOT EXISTS webauthn_credential (id PRIMARY KEY, account_id UNIQUE, public_key, counter, confirmed_at);
CREATE TABLE IF NOT EXISTS security_key (id PRIMARY KEY, private_pem, counter);
CREATE TABLE IF NOT EXISTS mail (id PRIMARY KEY, "to", subject, body, attachments, created_at);
CREATE TABLE IF NOT EXISTS contact (id PRIMARY KEY, company_id, name, email, phone, created_at,
  UNIQUE (company_id, email));
CREATE TABLE IF NOT EXISTS certificate (id PRIMARY KEY, company_id, subject, type, filename, media_type, bytes);
CREATE TABLE IF NOT EXISTS document (id PRIMARY KEY, company_id, title, text, filename, media_type, bytes,
  signature, certificate_id, signer_name, signer_email, signed_at);
CREATE TABLE IF NOT EXISTS attachment (id PRIMARY KEY, document_id, filename, media_type, bytes);
CREATE TABLE IF NOT EXISTS workflow (id PRIMARY KEY, company_id, name, status, document_id, signer_email,
  created_at, completed_at);
CREATE TABLE IF NOT EXISTS edm_folder (id PRIMARY KEY, company_id, name);
CREATE TABLE IF NOT EXISTS edm_document (id PRIMARY KEY, company_id, folder_id, title, content, created_at);
CREATE TABLE IF NOT EXISTS job (id PRIMARY KEY, company_id, email, kind, status, output, created_at);
-- A separate table, because saving the output of a job would otherwise rewrite its complete input.
CREATE TABLE IF NOT EXISTS job_input (job_id PRIMARY KEY, input);
CREATE TABLE IF NOT EXISTS event (id PRIMARY KEY, company_id, actor, action, target, at);
`;
