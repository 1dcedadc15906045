import type { Sandbox } from './sandbox.ts';

/** The line of `dev` that names the address of the gateway, the lines below it, and the commands that it proposes. */
export const SERVED = /^(.*)( is served at (\S+)\. Edit .*\n)((?:.+\n)*)(\nTry:\n(?: .*\n)*)?/m;

/**
 * Adds the sandbox to the text that `dev` prints when it serves.
 *
 * @param variables those that now have addresses of the sandbox
 * @param hasAccounts true if the gateway accepts the tokens of the accounts; the text then has commands that use them
 */
export function platformWelcome(
  text: string,
  sandbox: Sandbox,
  variables: readonly string[],
  hasAccounts: boolean,
): string {
  return text.replace(SERVED, (_text, file: string, served: string, url: string, details: string, commands = '') => {
    const subject = hasAccounts ? 'The signing platform' : file;
    return (
      subject + served + describeSandbox(sandbox, variables) + details + (hasAccounts ? use(url, sandbox) : commands)
    );
  });
}

function describeSandbox({ identityUrl, platformUrl }: Sandbox, variables: readonly string[]): string {
  return `The sandbox behind it: identity ${identityUrl}, platform ${platformUrl}, emails ${identityUrl}/outbox
Sample ids, and a command for each flow of the platform: ${identityUrl}
These addresses replace ${variables.join(', ')}. A variable that you set takes precedence.
`;
}

/** Returns the accounts, and commands that work when pasted. */
function use(url: string, { accounts }: Sandbox): string {
  const emailOf = (role: string) => accounts.find((account) => account.role === role)?.email ?? '';
  const login = (email: string) => {
    const body = JSON.stringify({ email, password: accounts[0]?.password });
    return `curl -s ${url}/api/v1/login -H 'Content-Type: application/json' -d '${body}'`;
  };
  const rows = accounts.map(({ email, password, role, totpSecret }) => {
    const factor = totpSecret === undefined ? '' : `, TOTP secret ${totpSecret}`;
    return `  ${email.padEnd(23)}${password}   ${role}${factor}\n`;
  });
  return `
Accounts:
${rows.join('')}
Try:
  TOKEN=$(${login(emailOf('user'))} | grep -o 'eyJ[^"]*')
  curl -s "${url}/api/contacts?per_page=2" -H "Authorization: Bearer $TOKEN"
  ${login(emailOf('auditor'))}
`;
}
