import { describe, it } from 'vitest';
import type { Exchange } from '../../src/engine/gateway/exchange.ts';
import { authenticate } from '../../src/engine/gateway/request/authenticate.ts';
import { authorize } from '../../src/engine/gateway/request/authorize.ts';
import type { RequestHead } from '../../src/engine/gateway/request/request-head.ts';
import { REFUSALS, Refusal } from '../../src/engine/gateway/response/refusal.ts';
import type { Principal } from '../../src/engine/tokens/verifier.ts';
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
    const auth = plan?.auth;
    if (auth === undefined) throw new Error('the manifest does not load');
    const head = (authorization?: string) => ({ authorization }) as RequestHead;
    const exchange = {
      waitingClient: () => ({ key: '', signal: new AbortController().signal }),
    } as unknown as Exchange;
    const rows = [
      ['no token', () => authenticate(auth, head(), exchange)],
      ['an invalid token', () => authenticate(auth, head('Bearer x'), exchange)],
      ['a role that is not allowed', () => authorize(auth, { claims: {} } as Principal)],
    ] as const;
    const lines = ['| request | status | `WWW-Authenticate` |', '|---|---|---|'];
    for (const [request, check] of rows) {
      const { status, headers } = await refusalOf(check);
      lines.push(`| ${request} | ${status} | \`${headers['WWW-Authenticate']}\` |`);
    }
    expectSection('docs/errors.md', 'challenges', `${lines.join('\n')}\n`);
  });
});

async function refusalOf(check: () => unknown): Promise<Refusal> {
  try {
    await check();
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('the check refused nothing');
}
