import { createHash, randomUUID } from 'node:crypto';
import { now, type Row, type Store } from './store.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly attachments?: readonly { readonly filename: string; readonly content: Uint8Array }[];
}

/** Puts a mail in the outbox, from where nothing ever leaves. Of an attachment, size and hash are kept. */
export function sendMail(store: Store, mail: Mail): string {
  const id = randomUUID();
  const attachments = (mail.attachments ?? []).map(({ filename, content }) => ({
    filename,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  store.run(
    'INSERT INTO outbox (id, recipient, subject, body, attachments, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    id,
    mail.to,
    mail.subject,
    mail.body,
    JSON.stringify(attachments),
    now(),
  );
  return id;
}

/** All mails, oldest first. */
export function readOutbox(store: Store): unknown[] {
  const mails = store.all(
    'SELECT id, recipient AS "to", subject, body, attachments, created_at FROM outbox ORDER BY rowid',
  );
  return mails.map((mail: Row) => ({ ...mail, attachments: JSON.parse(String(mail['attachments'])) }));
}
