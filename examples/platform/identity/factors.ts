import { recordAuditEvent } from '../audit.ts';
import type { AuthenticatedRequest, SandboxRoute, SandboxUser } from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import type { Store } from '../store.ts';

export type FactorKind = 'totp' | 'email' | 'webauthn';

/** Routes of all second factors of an account: one of each kind. Login requires one after a code has confirmed it. */
export const factorRoutes: readonly SandboxRoute[] = [
  ['GET /api/v1/mfa/factors', 'protected', listFactors, { summary: 'List the second factors' }],
  [
    'DELETE /api/v1/mfa/factors/:id',
    'protected',
    removeFactor,
    { summary: 'Remove the second factor of the kind totp, email or webauthn', id: 'totp' },
  ],
];

/** Returns the kinds of factor of which one completes a login. */
export function confirmedFactors(store: Store, user: SandboxUser): readonly FactorKind[] {
  return factorsOf(store, user).flatMap(({ kind, confirmed_at }) => (confirmed_at === null ? [] : [kind]));
}

export function listFactors({ store, user }: AuthenticatedRequest): SandboxResponse {
  return dataResponse(factorsOf(store, user));
}

interface Factor {
  readonly kind: FactorKind;
  readonly confirmed_at: string | null;
}

function factorsOf(store: Store, { id }: SandboxUser): readonly Factor[] {
  const totp = `SELECT 'totp' AS kind, totp_confirmed_at AS confirmed_at FROM account
    WHERE id = ?1 AND totp_secret IS NOT NULL`;
  const email = "SELECT 'email', confirmed_at FROM email_factor WHERE account_id = ?1";
  const webauthn = "SELECT 'webauthn', confirmed_at FROM webauthn_credential WHERE account_id = ?1";
  return store.all<Factor>([totp, email, webauthn].join(' UNION ALL '), id);
}

const REMOVALS: ReadonlyMap<string, string> = new Map([
  ['totp', 'UPDATE account SET totp_secret = NULL, totp_confirmed_at = NULL WHERE id = ? AND totp_secret IS NOT NULL'],
  ['email', 'DELETE FROM email_factor WHERE account_id = ?'],
  ['webauthn', 'DELETE FROM webauthn_credential WHERE account_id = ?'],
]);

function removeFactor(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, id: kind } = request;
  const sql = REMOVALS.get(kind);
  if (sql === undefined || store.run(sql, user.id) === 0) throw new SandboxError(404, `no factor ${kind}`);
  recordAuditEvent(store, user, 'factor.remove', user.id);
  return listFactors(request);
}
