import { expect, it } from 'vitest';
import { startCli } from '../support/cli.ts';
import { AUDIENCE, ISSUER, startIssuer } from '../support/issuer.ts';
import { scrape } from '../support/scrape.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream } from '../support/upstream.ts';

const WARNING = /.*"msg":"more than half of the tokens are refused for one reason.*/;

it.each([1, 2])('a changed key of the issuer is logged and counted by reason with %i workers', async (workers) => {
  const [upstream, issuer, other] = await Promise.all([startUpstream(), startIssuer(), startIssuer()]);
  const folder = temporaryFolder('token-refusals', {
    'gateway.yaml': `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
server: { workers: ${workers}, stopping: { delay: 0s } }
upstreams: { up: { url: ${upstream.url} } }
auth:
  tokens: { jwt: { jwks: '${issuer.jwksUrl}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} } }
  role: { claim: /company_role, allow: [user], message: users only }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: protected }
  - { id: open, method: GET, path: /open, upstream: up, access: public }
`,
  });
  const cli = startCli(['run'], folder);
  try {
    const [, url, admin = ''] = await cli.waitFor(/"url":"(http:[^"]+)","admin":"(http:[^"]+)".*"msg":"serving"/);
    const send = async (path: string, token?: string) => {
      // A new connection for each request, so that all workers get some.
      const headers = { connection: 'close', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      return (await fetch(`${url}${path}`, { headers })).status;
    };
    const good = await issuer.token();
    const refused = await other.token();
    for (let index = 0; index < 10; index += 1) {
      expect(await send('/one', good)).toBe(200);
      expect(await send('/open', refused)).toBe(200);
      expect(await send('/one')).toBe(401);
    }
    expect(await send('/one', await issuer.token({ company_role: 'nobody' }))).toBe(403);
    for (let index = 0; index < 30; index += 1) expect(await send('/one', refused)).toBe(401);
    const [line = ''] = await cli.waitFor(WARNING);
    const { level, reason, refused: failed, tokens } = JSON.parse(line);
    expect([level, reason, failed >= 10 && failed > tokens / 2]).toEqual([40, 'signature_wrong', true]);
    expect(cli.out().match(new RegExp(WARNING, 'g'))).toHaveLength(1);
    const { value } = await scrape(admin);
    const results = ['allowed', 'token_missing', 'role_not_allowed', 'signature_wrong', 'token_expired'];
    expect(results.map((result) => value('authorizations_total', { result }))).toEqual([10, 10, 1, 30, 0]);
    const { upstreams } = (await (await fetch(`${admin}/status`)).json()) as { upstreams: { health: string }[] };
    expect(upstreams[0]?.health).not.toBe('unhealthy');
  } finally {
    cli.child.kill('SIGKILL');
    await Promise.all([cli.result, upstream.close(), issuer.close(), other.close()]);
  }
});
