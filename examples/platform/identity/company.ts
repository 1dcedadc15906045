import { recordAuditEvent } from '../audit.ts';
import type { Fields } from '../fields.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { LIST_QUERY, listResource, type Resource } from '../resource.ts';
import { dataResponse, requireFound, SandboxError, type SandboxResponse } from '../response.ts';

const USERS: Resource = {
  table: 'account',
  columns: 'id, email, name, role, email_verified_at',
  searchExpression: 'email',
};

/** Routes of the company of the caller. */
export const companyRoutes: readonly SandboxRoute[] = [
  [
    'GET /api/company/settings',
    'protected',
    (request: AuthenticatedRequest) => dataResponse(readColumn(request, 'settings')),
    { summary: 'Read the settings' },
  ],
  [
    'PATCH /api/company/settings',
    'admin',
    changeSettings,
    { summary: 'Change settings, as an administrator', body: jsonBody({ reminder_days: 3 }) },
  ],
  [
    'GET /api/company/license',
    'protected',
    (request: AuthenticatedRequest) => dataResponse(readColumn(request, 'license')),
    { summary: 'Read the license' },
  ],
  ['GET /api/company/users', 'protected', listResource(USERS), { summary: 'List the users', query: LIST_QUERY }],
];

/** Updates settings. Only existing settings can be changed, and only to a value of the same type. */
function changeSettings(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, fields } = request;
  const settings = readColumn(request, 'settings');
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(settings, name) && typeof value === typeof settings[name]) continue;
    throw new SandboxError(
      400,
      `"${name}" is not a setting or has another type; the settings are ${JSON.stringify(settings)}`,
    );
  }
  const changed = { ...settings, ...fields };
  store.run('UPDATE company SET settings = ? WHERE id = ?', JSON.stringify(changed), user.companyId);
  recordAuditEvent(store, user, 'company-settings.update', user.companyId);
  return dataResponse(changed);
}

function readColumn({ store, user }: AuthenticatedRequest, column: 'settings' | 'license'): Fields {
  const row = store.one<{ json: string }>(`SELECT ${column} AS json FROM company WHERE id = ?`, user.companyId);
  return JSON.parse(requireFound(row, 'company').json);
}
