import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { Random } from './rewrites.ts';

interface RouteDraft {
  readonly path: string;
  readonly method: string | readonly string[];
}

const HANDSHAKE =
  'Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13, Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const HEADERS = [
  'X-Page: 1',
  'X-Page: x',
  'X-Tenant: one',
  'X-Debug: 1',
  'X-From: me',
  'X-HTTP-Method: PUT',
  'X-Forwarded-For: 192.0.2.7',
  'Origin: https://app.example',
  'Origin: https://page.example',
  'Origin: https://other.example',
  HANDSHAKE,
];
const BODIES: readonly (readonly [type: string, text: string])[] = [
  ['application/json', '{"a":1,"b":"xx"}'],
  ['application/json', '{}'],
  ['application/json', '{"a":"x"}'],
  ['application/vnd.example+json', '{"a":1,"b":"xx"}'],
  ['text/csv', 'a,b\r\n'],
  ['text/csv', 'a;b\r\n'],
  ['text/plain', 'x'.repeat(100)],
  ['text/plain', 'x'.repeat(8000)],
  ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n'],
];
const QUERIES = ['', '', '?page=1', '?page=x', '?page=1&page=2', '?other=1', '/'];
const ROLES = ['admin', 'admin', 'user', 'guest', undefined];

/** Returns a request for one of the routes, that most of its rules accept or refuse. */
export function sampleRequest(routes: readonly RouteDraft[], random: Random): DiffRequest {
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;
  const { path, method: methods } = pick(routes);
  const url = path
    .replace(/\{\w+\}/g, () => pick(['7', 'x', 'a%2Fb']))
    .replace(/\/\*\*$/, () => pick(['', '/a/x', '/x%2Fy']));
  const own = methods === 'any' ? ['GET', 'POST'] : [methods].flat();
  const method = pick([...own, ...own, 'GET', 'POST', 'OPTIONS']);
  const headers = [pick(HEADERS), pick(HEADERS)]
    .filter((line, index, all) => all.findIndex((other) => nameOf(other) === nameOf(line)) === index)
    .filter((line) => line !== HANDSHAKE || method === 'GET')
    .flatMap((line) => line.split(', ').flatMap((header) => header.split(': ')));
  if (method === 'OPTIONS') headers.push('Access-Control-Request-Method', 'POST');
  const role = pick(ROLES);
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method);
  const [type, body] = pick(BODIES);
  return {
    method,
    url: (url || '/') + pick(QUERIES),
    headers: hasBody ? [...headers, 'Content-Type', type] : headers,
    ...(role !== undefined && { role }),
    ...(hasBody && { body }),
  };
}

function nameOf(line: string): string {
  return line.replace(/:.*/, '');
}
