import { SAMPLES } from '../samples.ts';
import { AS_USER, curl, type Flow, json, keep } from './flow.ts';

/** Polls a job until it ends, and prints each state. An error ends it too. */
const poll = (path: string) =>
  `while ${curl(`${path}/$JOB`, AS_USER)} | tee -a /dev/stderr | grep -Eq '"(queued|running)"'; do sleep 1; done`;

const CSV = "printf 'name,email\\nMia Berg,mia.berg@partner.example\\n' > contacts.csv";

export const DOWNLOAD_FLOW: Flow = {
  title: 'Public downloads and verification',
  steps: [
    {
      text: 'Downloads need no token',
      statuses: [200, 200, 200],
      commands: [
        curl(`/api/v1/certificates/${SAMPLES.certificate}/download`, '-o certificate.pem'),
        curl(`/api/v4/documents/${SAMPLES.documentUuid}/download`, '-o agreement.pdf'),
        curl(`/api/v4/attachments/${SAMPLES.attachmentUuid}/download`, '-o price-list.csv'),
      ],
    },
    {
      text: 'The signature of the first document is valid, that of the altered document is not',
      statuses: [200, 200],
      commands: [SAMPLES.documentUuid, SAMPLES.tamperedDocumentUuid].map((uuid) => curl(`/api/v4/verify/${uuid}`)),
    },
  ],
};

export const WORKFLOW_FLOW: Flow = {
  title: 'Workflows',
  steps: [
    {
      text: 'List the documents of completed workflows, then add a workflow',
      statuses: [200, 201],
      commands: [
        curl('/api/workflows/completed/documents/list', AS_USER),
        curl('/api/workflows', AS_USER, json({ name: 'Sign the lease', signer_email: 'ada.lind@partner.example' })),
      ],
    },
  ],
};

const MAIL = {
  email: 'ada.lind@partner.example',
  subject: 'Please sign',
  body: '<p>Hello Ada</p>',
  attachments: [{ filename: 'hello.txt', content: 'aGVsbG8=' }],
};

export const NOTIFICATION_FLOW: Flow = {
  title: 'Notifications',
  steps: [
    {
      text: 'Send a mail, which appears in the outbox',
      statuses: [202, 200],
      commands: [curl('/api/notifications/email', AS_USER, json(MAIL)), 'curl -s "$SANDBOX/outbox"'],
    },
    {
      text: 'The gateway refuses a mail without a subject, and names the missing member',
      statuses: [400],
      commands: [curl('/api/notifications/email', AS_USER, json({ email: MAIL.email, body: MAIL.body }))],
    },
  ],
};

export const JOB_FLOW: Flow = {
  title: 'Jobs',
  steps: [
    {
      text: 'Import contacts from a CSV file, and poll the job until it ends. A second import of the same file rejects the rows as duplicates',
      statuses: [202, 200],
      commands: [
        CSV,
        keep(
          'JOB',
          'id',
          curl('/api/contacts/imports/csv', AS_USER, "-H 'Content-Type: text/csv'", '--data-binary @contacts.csv'),
        ),
        poll('/api/contacts/imports'),
      ],
    },
    {
      text: 'The same file as a form',
      statuses: [202, 200],
      commands: [
        keep('JOB', 'id', curl('/api/contacts/imports/csv', AS_USER, "-F 'file=@contacts.csv;type=text/csv'")),
        poll('/api/contacts/imports'),
      ],
    },
    {
      text: 'Analyse a document in one request, without a job',
      statuses: [200],
      commands: [curl('/api/ai/analyses', AS_USER, json({ document_uuid: SAMPLES.documentUuid }))],
    },
    {
      text: 'Analyse a document in a job',
      statuses: [202, 200],
      commands: [
        keep('JOB', 'id', curl('/api/ai/analyses?async=true', AS_USER, json({ document_uuid: SAMPLES.documentUuid }))),
        poll('/api/ai/jobs'),
      ],
    },
    {
      text: 'Export the EDM documents of a folder',
      statuses: [202, 200],
      commands: [
        keep('JOB', 'id', curl('/api/edm/export', AS_USER, json({ folder_id: SAMPLES.folderId }))),
        poll('/api/edm/export'),
      ],
    },
  ],
};

export const LIST_FLOW: Flow = {
  title: 'Lists',
  steps: [
    {
      text: 'Each list has its own query parameters',
      statuses: [200, 200, 200, 200, 200],
      commands: [
        '/api/contacts?page=2&per_page=10&search=partner',
        '/api/workflows?page=1&search=sign',
        '/api/v4/documents?page=1',
        `/api/edm/documents?page=1&folder_id=${SAMPLES.folderId}&search=lease`,
        '/api/audit/events?from=2026-01-01&to=2026-12-31&page=1',
      ].map((path) => curl(path, AS_USER)),
    },
    {
      text: 'An object has a path below its list',
      statuses: [200, 200, 200],
      commands: [
        `/api/contacts/${SAMPLES.contactId}`,
        `/api/workflows/${SAMPLES.workflowId}`,
        `/api/v4/documents/${SAMPLES.documentUuid}`,
      ].map((path) => curl(path, AS_USER)),
    },
    {
      text: 'Add a document to a folder of the EDM',
      statuses: [201],
      commands: [curl('/api/edm/documents', AS_USER, json({ title: 'Receipt', folder_id: SAMPLES.folderId }))],
    },
    {
      text: 'The gateway refuses a page that is not a number',
      statuses: [400],
      commands: [curl('/api/contacts?page=first', AS_USER)],
    },
  ],
};
