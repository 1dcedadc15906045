/** An account of the seed data. */
export interface DemoAccount {
  readonly email: string;
  readonly password: string;
  readonly role: 'admin' | 'user' | 'auditor';
  /** The base32 secret of the TOTP factor. Login then requires a code. */
  readonly totpSecret?: string;
}

/** A public password, only for the sandbox. */
export const DEMO_PASSWORD = 'demo-password';

/** One account for each role, one with a second factor, and one of another company. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  { email: 'admin@acme.example', password: DEMO_PASSWORD, role: 'admin' },
  { email: 'user@acme.example', password: DEMO_PASSWORD, role: 'user' },
  { email: 'auditor@acme.example', password: DEMO_PASSWORD, role: 'auditor' },
  { email: 'mfa@acme.example', password: DEMO_PASSWORD, role: 'user', totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' },
  { email: 'admin@globex.example', password: DEMO_PASSWORD, role: 'admin' },
];

/** Tokens that stand in for those of social providers. */
export const SOCIAL_TOKENS: readonly { readonly provider: string; readonly token: string; readonly email: string }[] = [
  { provider: 'google', token: 'google-demo-token-of-the-user', email: 'user@acme.example' },
  { provider: 'google', token: 'google-demo-token-of-the-auditor', email: 'auditor@acme.example' },
  { provider: 'facebook', token: 'facebook-demo-token-of-the-admin', email: 'admin@acme.example' },
];

/** Ids of the seed data. They never change, so examples may use them. */
export const SAMPLES = {
  certificate: 'acme-signing',
  documentUuid: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d01',
  secondDocumentUuid: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d02',
  /** This document was changed after it was signed. */
  tamperedDocumentUuid: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d03',
  attachmentUuid: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d11',
  workflowId: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d21',
  contactId: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d31',
  folderId: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d41',
  edmDocumentId: '0198f2c4-7a10-7c3e-9b1d-5f6a2e8c4d51',
} as const;

/** The time of the seed data. It is fixed, so that a new database is the same on any day. */
export const SEEDED_AT = '2026-01-05T09:00:00.000Z';
