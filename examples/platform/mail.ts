import { hash, randomUUID } from 'node:crypto';
import type { SandboxRequest, SandboxRoute } from './request.ts';
import { dataResponse, type SandboxResponse } from './response.ts';
import { now, type Store } from './store.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly attachments?: readonly { readonly filename: string; readonly content: Uint8Array }[];
}

/**
 * Adds a mail to the outbox and returns its id. The sandbox sends no mail, and stores only the size and hash of
 * attachments.
 */
export function sendMail(store: Store, { attachments = [], ...mail }: Mail): string {
  const id = randomUUID();
  const stored = attachments.map(({ filename, content }) => {
    return { filename, bytes: content.length, sha256: hash('sha256', content) };
  });
  store.insert('mail', { id, ...mail, attachments: JSON.stringify(stored), created_at: now() });
  return id;
}

export const mailRoutes: readonly SandboxRoute[] = [
  ['GET /outbox', 'public', showOutbox, { summary: 'List all mails, oldest first' }],
];

/** Lists all mails, oldest first, in place of a mailbox. */
function showOutbox({ store }: SandboxRequest): SandboxResponse {
  const mails = store.all<{ attachments: string }>('SELECT * FROM mail ORDER BY rowid');
  return dataResponse(mails.map((mail) => ({ ...mail, attachments: JSON.parse(mail.attachments) })));
}
