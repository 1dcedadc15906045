import { describe, expect, it } from 'vitest';
import { formatProblem, lintText } from './support.ts';

const manifestOf = (listen: string, upstream: string) => `version: 1
listen: ${listen}
upstreams: { app: { url: '${upstream}', health: { connect: true } } }
rateLimits: { few: { key: client, allow: 9 per 1m } }
routes: [{ id: app, method: GET, path: /app, upstream: app, access: public, rateLimits: [few] }]
`;

const problemsOf = (listen: string, upstream: string) =>
  lintText(manifestOf(listen, upstream))
    .filter(({ rule }) => rule === 'upstream-loop' || rule === 'rate-limit-client' || rule === 'listen-exposed')
    .map(formatProblem);

describe('the rules about the address of the gateway', () => {
  it('know that the clients of a unix socket share one key, and that it may be an upstream', () => {
    const shared =
      '4:27 this key is the same for all clients of a unix socket; write subject, or the header that identifies a client [rate-limit-client]';
    const loop = '3:26 this is the "listen" address of the gateway; write the address of the service [upstream-loop]';
    expect(problemsOf("{ address: 'unix:/run/a.sock', mode: '0666' }", 'unix:/run/a.sock')).toEqual([loop, shared]);
    expect(problemsOf('unix:/run/a.sock', 'unix:/run/b.sock')).toEqual([shared]);
    expect(problemsOf('unix:/run/a.sock', 'http://127.0.0.1:80')).toEqual([shared]);
    expect(problemsOf('127.0.0.1:8080', 'unix:/run/a.sock')).toEqual([]);
  });
});
