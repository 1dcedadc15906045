import { recordAuditEvent } from '../audit.ts';
import { emailField, type Fields, textField } from '../fields.ts';
import { type Mail, sendMail } from '../mail.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { SandboxError, type SandboxResponse, successResponse } from '../response.ts';

/** Routes that send mail for a user. The mail goes to the outbox. */
export const notificationRoutes: readonly SandboxRoute[] = [
  [
    'POST /api/notifications/email',
    'protected',
    notify,
    {
      summary: 'Send a mail',
      body: jsonBody({
        email: 'ada.lind@partner.example',
        subject: 'Please sign',
        body: '<p>Hello Ada</p>',
        attachments: [{ filename: 'hello.txt', content: 'aGVsbG8=' }],
      }),
      status: 202,
    },
  ],
];

function notify({ store, user, fields }: AuthenticatedRequest): SandboxResponse {
  const to = emailField(fields, 'email');
  const attachments = attachmentsOf(fields);
  const mail = { to, subject: textField(fields, 'subject'), body: textField(fields, 'body'), attachments };
  recordAuditEvent(store, user, 'notification.email', sendMail(store, mail));
  return successResponse(`the e-mail to ${to} is accepted`, 202);
}

function attachmentsOf({ attachments = [] }: Fields): NonNullable<Mail['attachments']> {
  if (!Array.isArray(attachments)) throw new SandboxError(400, '"attachments" must be an array');
  return attachments.map((attachment: unknown) => {
    const fields = Object(attachment) as Fields;
    return { filename: textField(fields, 'filename'), content: decode(textField(fields, 'content')) };
  });
}

/** Decodes base64. Node ignores invalid characters, so encode again and compare. */
function decode(content: string): Uint8Array {
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) throw new SandboxError(400, '"content" of an attachment must be base64');
  return bytes;
}
