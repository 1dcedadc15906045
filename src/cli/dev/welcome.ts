import { AUDIENCE, ISSUER, type Sandbox } from '../../../examples/platform/sandbox.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { ServingGateway } from '../run/run.ts';
import type { LocalServices } from './local-services.ts';

type Services = Pick<LocalServices, 'sandbox' | 'echo' | 'issuer' | 'environment'>;

/** Returns the text for a newcomer: the addresses, and commands that work when pasted. */
export function welcome(file: string, gateway: ServingGateway, services: Services): string {
  const { url, adminUrl } = gateway;
  const { sandbox } = services;
  const isPlatform = sandbox !== undefined && acceptsAccounts(gateway, sandbox);
  const subject = isPlatform ? `The signing platform is served at ${url}` : `${file} is served at ${url}`;
  const lines = [
    '',
    `${subject}. Edit ${file} and save it: the gateway reloads it.`,
    ...describeServices(services),
    ...(adminUrl === undefined ? [] : [`Admin page: ${adminUrl}`]),
    ...(isPlatform ? platformCommands(url, sandbox) : commands(gateway, services)),
  ];
  return `${lines.join('\n')}\n`;
}

/** True if an account of the sandbox can log in through the gateway and use the token there. */
function acceptsAccounts({ initial }: ServingGateway, { identityUrl, environment }: Sandbox): boolean {
  const { plan, manifest } = initial;
  const jwt = manifest.auth?.tokens.jwt;
  const login = plan.router.match('POST', '/api/v1/login');
  const contacts = plan.router.match('GET', '/api/contacts');
  const hasKeys = jwt?.jwks === environment['JWKS_URL'] && jwt?.issuer === ISSUER && jwt.audience === AUDIENCE;
  const isSandbox = login?.upstream.endpoints.some(({ url }) => url.origin === identityUrl) === true;
  return hasKeys && isSandbox && login.login !== undefined && contacts?.access === 'protected';
}

function describeServices({ sandbox, echo, issuer, environment }: Services): string[] {
  const lines: string[] = [];
  if (sandbox !== undefined) {
    const { identityUrl, platformUrl } = sandbox;
    lines.push(`The sandbox behind it: identity ${identityUrl}, platform ${platformUrl}, emails ${identityUrl}/outbox`);
    lines.push(`Sample ids, and a command for each flow of the platform: ${identityUrl}`);
  }
  if (echo !== undefined) lines.push(`The echo upstream at ${echo.url} responds with the request that it received.`);
  if (issuer !== undefined) lines.push(`The token issuer at ${issuer.url} stands in for your identity service.`);
  const names = Object.keys(environment);
  if (names.length > 0) {
    const verb = names.length === 1 ? 'This address replaces' : 'These addresses replace';
    lines.push(`${verb} ${names.join(', ')}. A variable that you set takes precedence.`);
  }
  return lines;
}

function platformCommands(url: string, { accounts }: Sandbox): string[] {
  const emailOf = (role: string) => accounts.find((account) => account.role === role)?.email ?? '';
  const login = (email: string) => {
    const body = JSON.stringify({ email, password: accounts[0]?.password });
    return `curl -s ${url}/api/v1/login -H 'Content-Type: application/json' -d '${body}'`;
  };
  const rows = accounts.map(({ email, password, role, totpSecret }) => {
    const factor = totpSecret === undefined ? '' : `, TOTP secret ${totpSecret}`;
    return `  ${email.padEnd(23)}${password}   ${role}${factor}`;
  });
  return [
    '',
    'Accounts:',
    ...rows,
    '',
    'Try:',
    `  TOKEN=$(${login(emailOf('user'))} | grep -o 'eyJ[^"]*')`,
    `  curl -s "${url}/api/contacts?per_page=2" -H "Authorization: Bearer $TOKEN"`,
    `  ${login(emailOf('auditor'))}`,
  ];
}

/** Returns a request to the first public route, and one with a token to the first protected route. */
function commands({ url, initial }: ServingGateway, { issuer }: Services): string[] {
  const find = (access: Route['access']) =>
    initial.plan.routes.find((route) => route.access === access && route.methods.includes('GET'));
  const [open, closed] = [find('public'), find('protected')];
  // A role from the environment is never printed.
  const role = initial.manifest.auth?.role.allow.find(
    (_, index) => !initial.secrets.isSecret(['auth', 'role', 'allow', index]),
  );
  const lines = open === undefined ? [] : [`  curl -i ${quote(url + samplePath(open))}`];
  if (closed !== undefined && issuer !== undefined && role !== undefined)
    lines.push(
      `  TOKEN=$(curl -s ${quote(issuer.tokenUrl(role))})`,
      `  curl -i ${quote(url + samplePath(closed))} -H "Authorization: Bearer $TOKEN"`,
    );
  return lines.length === 0 ? [] : ['', 'Try:', ...lines];
}

/** Returns a path that the route matches: parameters have their names as values. */
function samplePath({ path }: Route): string {
  return path.replace(/\/\*\*$/, '').replaceAll(/[{}]/g, '') || '/';
}

/** Quotes a word for a shell, if it needs quotes. */
function quote(word: string): string {
  return /^[\w:/.~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
