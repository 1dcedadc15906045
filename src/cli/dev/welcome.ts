import type { Sandbox } from '../../sandbox/sandbox.ts';

type SandboxInfo = Pick<Sandbox, 'identityUrl' | 'platformUrl' | 'accounts'>;

interface ServingInfo {
  readonly url: string;
  /** `undefined`: the manifest has no operators' side. */
  readonly adminUrl: string | undefined;
  readonly manifest: string;
}

/** What a newcomer reads first: where everything is, who can log in, and three lines that work when pasted. */
export function welcome(
  { url, adminUrl, manifest }: ServingInfo,
  { identityUrl, platformUrl, accounts }: SandboxInfo,
): string {
  const emailOf = (role: string) => accounts.find((account) => account.role === role)?.email ?? '';
  const login = (email: string) => {
    const body = JSON.stringify({ email, password: accounts[0]?.password });
    return `curl -s ${url}/api/v1/login -H 'Content-Type: application/json' -d '${body}'`;
  };
  const shown = accounts.map(({ email, password, role, totpSecret }) => {
    const factor = totpSecret === undefined ? '' : `, TOTP secret ${totpSecret}`;
    return `  ${email.padEnd(23)}${password}   ${role}${factor}`;
  });
  return `
The signing platform is served at ${url} by ${manifest}: edit it, save, and it is in force.
Behind it stands the sandbox: identity ${identityUrl}, platform ${platformUrl}, mails ${identityUrl}/outbox${adminUrl === undefined ? '' : `\nOperators see it at ${adminUrl}`}

Accounts:
${shown.join('\n')}

Try:
  TOKEN=$(${login(emailOf('user'))} | grep -o 'eyJ[^"]*')
  curl -s "${url}/api/contacts?per_page=2" -H "Authorization: Bearer $TOKEN"
  ${login(emailOf('auditor'))}
`;
}
