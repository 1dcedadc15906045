import { describe, it } from 'vitest';
import { REFUSALS, Refusal } from '../../src/engine/gateway/response/refusal.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { headerValue } from '../../src/prove/offline/request-bytes.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { expectSection } from '../support/section.ts';

describe('docs/errors.md', () => {
  it('shows a response as it is sent', () => {
    const refusal = new Refusal('body_invalid', {
      errors: [{ pointer: '/email', message: 'is missing', description: 'the recipient' }],
    });
    const body = JSON.stringify(JSON.parse(refusal.body('8f14e45f-ceea-467f-9575-7c3a1f2d9b10')), null, 2);
    expectSection('docs/errors.md', 'example', `\`\`\`json\n${body}\n\`\`\`\n`);
  });

  it('lists every refusal', () => {
    const rows = Object.entries(REFUSALS).map(
      ([code, { status, detail }]) => `| ${status} | \`${code}\` | ${detail} |`,
    );
    expectSection(
      'docs/errors.md',
      'refusals',
      `${['| status | code | meaning |', '|---|---|---|', ...rows].join('\n')}\n`,
    );
  });

  it('shows the challenge of each refusal', async () => {
    const { plan } = loadText(manifestOf(AUTH, ROUTE.replace('public', 'protected')));
    if (plan === undefined) throw new Error('the manifest does not load');
    const tokens = new StubVerifier();
    const send = createOfflineGateway(plan, tokens);
    tokens.setToken('guest', { claims: { company_role: 'guest' } });
    const rows = [
      ['no token', []],
      ['an invalid token', ['Authorization', 'Bearer x']],
      ['a role that is not allowed', ['Authorization', 'Bearer guest']],
    ] as const;
    const lines = ['| request | status | `WWW-Authenticate` |', '|---|---|---|'];
    for (const [request, headers] of rows) {
      const { response } = await send({ method: 'POST', target: '/api/contacts', headers, body: undefined });
      const challenge = headerValue(response?.headers ?? [], 'www-authenticate');
      lines.push(`| ${request} | ${response?.status} | \`${challenge}\` |`);
    }
    expectSection('docs/errors.md', 'challenges', `${lines.join('\n')}\n`);
  });
});
