import { type Answer, data, Fault, found } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, type Fields, text, type User } from '../call.ts';
import { page } from '../page.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

/** The caller's own company. */
export function companyRoutes(store: Store): readonly Route[] {
  return [
    ['GET', '/api/company/settings', 'protected', (_call, user) => data(settingsOf(store, user))],
    ['PATCH', '/api/company/settings', 'protected', (call, user) => changeSettings(store, call, user)],
    ['GET', '/api/company/users', 'protected', (call, user) => page(store, call, USERS, [user.companyId])],
    ['GET', '/api/company/license', 'protected', (_call, user) => data(licenseOf(store, user))],
  ];
}

const USERS = `SELECT id, email, name, role, email_verified_at, created_at FROM accounts
  WHERE company_id = ? ORDER BY rowid`;

/** What may be set, and how a value is read. */
const SETTINGS: Readonly<Record<string, (body: Fields, name: string) => string | number>> = {
  locale: text,
  timezone: text,
  reminder_days: days,
};

async function changeSettings(store: Store, call: Call, user: User): Promise<Answer> {
  const body = await call.json();
  const changes: Record<string, string | number> = {};
  for (const name of Object.keys(body)) {
    const read = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (read === undefined)
      throw new Fault(400, `"${name}" is no setting; there are ${Object.keys(SETTINGS).join(', ')}`);
    changes[name] = read(body, name);
  }
  const settings = { ...settingsOf(store, user), ...changes };
  store.run('UPDATE companies SET settings = ? WHERE id = ?', JSON.stringify(settings), user.companyId);
  audit(store, user, 'company-settings.update', user.companyId);
  return data(settings);
}

function days(body: Fields, name: string): number {
  const value = body[name];
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > 365) {
    throw new Fault(400, `"${name}" must be a whole number from 0 to 365`);
  }
  return Number(value);
}

function settingsOf(store: Store, user: User): Fields {
  const row = store.one<{ settings: string }>('SELECT settings FROM companies WHERE id = ?', user.companyId);
  return JSON.parse(found(row, 'company').settings) as Fields;
}

function licenseOf(store: Store, user: User): Fields {
  const row = store.one<{ license: string; used: number }>(
    `SELECT license, (SELECT count(*) FROM accounts WHERE company_id = companies.id) AS used
     FROM companies WHERE id = ?`,
    user.companyId,
  );
  const { license, used } = found(row, 'company');
  return { ...(JSON.parse(license) as Fields), seats_used: used };
}
