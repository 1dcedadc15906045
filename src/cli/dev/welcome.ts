import type { Route } from '../../engine/plan/route-definition.ts';
import type { ServingGateway } from '../run/run.ts';
import type { LocalServices } from './local-services.ts';

type Services = Pick<LocalServices, 'echo' | 'issuer' | 'environment'>;

/** Returns the text for a newcomer: the addresses, and commands that work when pasted. */
export function welcome(file: string, gateway: ServingGateway, services: Services): string {
  const { url, adminUrl } = gateway;
  const lines = [
    '',
    `${file} is served at ${url}. Edit ${file} and save it: the gateway reloads it.`,
    ...describeServices(services),
    ...(adminUrl === undefined ? [] : [`Admin page: ${adminUrl}`]),
    ...commands(gateway, services),
  ];
  return `${lines.join('\n')}\n`;
}

function describeServices({ echo, issuer, environment }: Services): string[] {
  const lines: string[] = [];
  if (echo !== undefined) lines.push(`The echo upstream at ${echo.url} responds with the request that it received.`);
  if (issuer !== undefined) lines.push(`The token issuer at ${issuer.url} stands in for your identity service.`);
  const names = Object.keys(environment);
  if (names.length > 0) {
    const verb = names.length === 1 ? 'This address replaces' : 'These addresses replace';
    lines.push(`${lines.pop()} ${verb} ${names.join(', ')}. A variable that you set takes precedence.`);
  }
  return lines;
}

/** Returns a request to the first public route, and one with a token to the first protected route. */
function commands({ url, initial }: ServingGateway, { issuer }: Services): string[] {
  const find = (access: Route['access']) =>
    initial.plan.routes.find((route) => route.access === access && route.methods.includes('GET'));
  const [open, closed] = [find('public'), find('protected')];
  // A role from the environment is never printed.
  const role = initial.plan.auth?.role.required.find(
    (_, index) => !initial.secrets.isSecret(['auth', 'role', 'allow', index]),
  );
  const lines = open === undefined ? [] : [`  curl -i ${curlTarget(url, open)}`];
  if (closed !== undefined && issuer !== undefined && role !== undefined)
    lines.push(
      `  TOKEN=$(curl -s ${quote(issuer.tokenUrl(role))})`,
      `  curl -i ${curlTarget(url, closed)} -H "Authorization: Bearer $TOKEN"`,
    );
  return lines.length === 0 ? [] : ['', 'Try:', ...lines];
}

function curlTarget(url: string, route: Route): string {
  const [, socket] = /^unix:(.*)/.exec(url) ?? [];
  if (socket === undefined) return quote(url + samplePath(route));
  return `--unix-socket ${quote(socket)} ${quote(`http://localhost${samplePath(route)}`)}`;
}

/** Returns a path that the route matches: parameters have their names as values. */
function samplePath({ path }: Route): string {
  return path.replace(/\/\*\*$/, '').replaceAll(/[{}]/g, '') || '/';
}

/** Quotes a word for a shell, if it needs quotes. */
function quote(word: string): string {
  return /^[\w:/.~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
