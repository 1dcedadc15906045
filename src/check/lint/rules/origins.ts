import { isLoopback } from '../../../engine/dns/loopback.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, type Rule, rulesOf } from '../rule.ts';

/** Rules for the pages that may read responses (CORS) or open a WebSocket. */
export const ORIGIN_RULES = rulesOf('auth', {
  'cors-any-origin': {
    level: ['info', 'recommended'],
    rationale:
      'Every page that a user visits may read the responses of this gateway, so an internal gateway becomes readable from outside.',
    find: findOrigin('*', 'pages of every origin may read responses; list the origins that need access'),
  },
  'cors-null-origin': {
    level: ['warning', 'minimal'],
    rationale: 'Any page can obtain the origin null with a sandboxed frame, so allowing it allows every page.',
    find: findOrigin('null', 'any page can obtain this origin; list the origins that need access'),
  },
  'cors-plain-origin': {
    level: ['warning', 'recommended'],
    rationale:
      'Anyone on the network path can change a page that is loaded over plain HTTP, so its origin cannot be trusted.',
    *find({ manifest, secrets }) {
      for (const [index, origin] of (manifest.cors?.origins ?? []).entries()) {
        const path = ['cors', 'origins', index];
        const url = URL.parse(origin);
        if (url?.protocol !== 'http:' || isLoopback(url.hostname)) continue;
        const suggested = secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
        yield findingAt(
          path,
          `an attacker on the network can change pages of this origin and read responses through them; write ${suggested}`,
        );
      }
    },
  },
  'websocket-any-origin': {
    level: ['warning', 'recommended'],
    rationale:
      'Any page on the web can open a WebSocket from the browsers of its visitors, with their cookies and their network access.',
    *find({ routes, manifest }) {
      const corsPath: Path[] = manifest.cors?.origins.includes('*') ? [['cors', 'origins', 0]] : [];
      for (const { entry, path } of routes) {
        const origins = typeof entry.websocket === 'object' ? entry.websocket.origins : undefined;
        const isAny = origins === undefined ? entry.websocket === true && corsPath.length > 0 : origins.includes('*');
        if (!isAny) continue;
        const [related] = origins === undefined ? corsPath : [];
        yield findingAt(
          [...path, 'websocket'],
          'pages of any origin may open a WebSocket here; write websocket: { origins: [...] } with the origins that need access',
          related && { related: { path: related, message: 'the list that applies here' } },
        );
      }
    },
  },
  'websocket-origins-missing': {
    level: ['info', 'recommended'],
    rationale:
      'Browsers let every page open a WebSocket to any server, so the gateway accepts only pages of its own host unless origins are listed.',
    at: ['websocket'],
    route: ({ entry }, { manifest }) =>
      manifest.cors === undefined &&
      entry.websocket === true &&
      entry.access === 'public' &&
      'no origins are listed, so only pages of the same host may open a WebSocket here; write websocket: { origins: [https://app.example] }',
  },
  'websocket-public': {
    level: ['info', 'recommended'],
    rationale:
      'The gateway does not inspect WebSocket messages, and on a public route it does not authenticate the client either.',
    atKey: ['websocket'],
    route: ({ entry }) =>
      entry.websocket !== false &&
      entry.access === 'public' &&
      'anyone may open a WebSocket to the upstream here; write access: protected, or make sure that the upstream authenticates clients',
  },
});

/** Returns a function that finds an origin in the list of CORS. */
function findOrigin(wanted: string, message: string): NonNullable<Rule['find']> {
  return ({ manifest }) =>
    (manifest.cors?.origins ?? []).flatMap((origin, index) =>
      origin === wanted ? [findingAt(['cors', 'origins', index], message)] : [],
    );
}
