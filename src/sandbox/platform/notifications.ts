import { type Answer, Fault, success } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Route, UserCall } from '../call.ts';
import { email, type Fields, text } from '../fields.ts';
import { type Mail, sendMail } from '../mail.ts';

/** Mails on behalf of a user; they end in the outbox. */
export const notificationRoutes: readonly Route[] = [['POST /api/notifications/email', 'protected', notify]];

function notify({ store, user, fields }: UserCall): Answer {
  const to = email(fields, 'email');
  const attachments = attachmentsOf(fields);
  const mail = { to, subject: text(fields, 'subject'), body: text(fields, 'body'), attachments };
  audit(store, user, 'notification.email', sendMail(store, mail));
  return success(`the e-mail to ${to} is accepted`, 202);
}

function attachmentsOf({ attachments = [] }: Fields): NonNullable<Mail['attachments']> {
  if (!Array.isArray(attachments)) throw new Fault(400, '"attachments" must be an array');
  return attachments.map((attachment: unknown) => {
    const fields = Object(attachment) as Fields;
    return { filename: text(fields, 'filename'), content: decode(text(fields, 'content')) };
  });
}

/** Node decodes whatever it gets; only true base64 survives the way back. */
function decode(content: string): Uint8Array {
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) throw new Fault(400, '"content" of an attachment must be base64');
  return bytes;
}
