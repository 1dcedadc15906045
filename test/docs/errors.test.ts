import { describe, it } from 'vitest';
import { REFUSALS, Refusal } from '../../src/gateway/refusal.ts';
import { expectSection } from '../support/section.ts';

describe('docs/errors.md', () => {
  it('shows an answer as it is sent', () => {
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
      `${['| status | code | when |', '|---|---|---|', ...rows].join('\n')}\n`,
    );
  });
});
