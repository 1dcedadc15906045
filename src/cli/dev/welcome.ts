import type { Sandbox } from '../../sandbox/sandbox.ts';

type SandboxInfo = Pick<Sandbox, 'identityUrl' | 'platformUrl' | 'accounts'>;

interface ServingInfo {
  readonly url: string;
  /** Undefined if the manifest has no `admin`. */
  readonly adminUrl: string | undefined;
  readonly manifest: string;
}

/** Returns the text for a newcomer: the addresses, the accounts, and commands that work when pasted. */
export function welcome(
  { url, adminUrl, manifest }: ServingInfo,
  { identityUrl, platformUrl, accounts }: SandboxInfo,
): string {
  const emailOf = (role: string) => accounts.find((account) => account.role === role)?.email ?? '';
  const login = (email: string) => {
    const body = JSON.stringify({ email, password: accounts[0]?.password });
    return `curl -s ${url}/api/v1/login -H 'Content-Type: application/json' -d '${body}'`;
  };
  const rows = accounts.map(({ email, password, role, totpSecret }) => {
    const factor = totpSecret === undefined ? '' : `, TOTP secret ${totpSecret}`;
    return `  ${email.padEnd(23)}${password}   ${role}${factor}`;
  });
  return `
The signing platform is served at ${url}. Edit ${manifest} and save it: the gateway reloads it.
The sandbox behind it: identity ${identityUrl}, platform ${platformUrl}, emails ${identityUrl}/outbox
Sample ids, and a command for each flow of the platform: ${identityUrl}${adminUrl === undefined ? '' : `\nAdmin page: ${adminUrl}`}

Accounts:
${rows.join('\n')}

Try:
  TOKEN=$(${login(emailOf('user'))} | grep -o 'eyJ[^"]*')
  curl -s "${url}/api/contacts?per_page=2" -H "Authorization: Bearer $TOKEN"
  ${login(emailOf('auditor'))}
`;
}
