import { type Answer, data, Fault, found } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Route, UserCall } from '../call.ts';
import type { Fields } from '../fields.ts';
import { list, type Resource } from '../resource.ts';

const USERS: Resource = { table: 'account', columns: 'id, email, name, role, email_verified_at', searched: 'email' };

/** The caller's own company. */
export const companyRoutes: readonly Route[] = [
  ['GET /api/company/settings', 'protected', (call: UserCall) => data(read(call, 'settings'))],
  ['PATCH /api/company/settings', 'protected', changeSettings],
  ['GET /api/company/license', 'protected', (call: UserCall) => data(read(call, 'license'))],
  ['GET /api/company/users', 'protected', list(USERS)],
];

/** The settings there are tell which may be set, and to what type of value. */
function changeSettings(call: UserCall): Answer {
  const { store, user, fields } = call;
  const settings = read(call, 'settings');
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(settings, name) && typeof value === typeof settings[name]) continue;
    throw new Fault(400, `"${name}" is no setting or has no such value; the settings are ${JSON.stringify(settings)}`);
  }
  const changed = { ...settings, ...fields };
  store.run('UPDATE company SET settings = ? WHERE id = ?', JSON.stringify(changed), user.companyId);
  audit(store, user, 'company-settings.update', user.companyId);
  return data(changed);
}

function read({ store, user }: UserCall, column: 'settings' | 'license'): Fields {
  const row = store.one<{ json: string }>(`SELECT ${column} AS json FROM company WHERE id = ?`, user.companyId);
  return JSON.parse(found(row, 'company').json);
}
