import { type Answer, Fault, success } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, email, type Fields, MEGABYTE, optionalText, text, type User } from '../call.ts';
import { sendMail } from '../mail.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

const MAX_MAIL_BYTES = 20 * MEGABYTE;

/** Mails on behalf of a user; they end in the outbox. */
export function notificationRoutes(store: Store): readonly Route[] {
  return [['POST', '/api/notifications/email', 'protected', (call, user) => notify(store, call, user)]];
}

async function notify(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json(MAX_MAIL_BYTES);
  const to = email(body, 'email');
  const mail = { to, subject: text(body, 'subject'), body: text(body, 'body'), attachments: attachmentsOf(body) };
  audit(store, user, 'notification.email', sendMail(store, mail));
  return success(`the e-mail to ${to} is accepted`, 202);
}

function attachmentsOf(body: Fields): { filename: string; content: Uint8Array }[] {
  const attachments = body['attachments'] ?? [];
  if (!Array.isArray(attachments)) throw new Fault(400, '"attachments" must be an array');
  return attachments.map((attachment: unknown) => {
    const fields = (typeof attachment === 'object' && attachment !== null ? attachment : {}) as Fields;
    optionalText(fields, 'content_type');
    return { filename: text(fields, 'filename'), content: decode(text(fields, 'content')) };
  });
}

/** Node decodes whatever it gets; only true base64 survives the way back. */
function decode(content: string): Uint8Array {
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) throw new Fault(400, '"content" of an attachment must be base64');
  return bytes;
}
