import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxGuide } from '../../examples/platform/guide/guide.ts';
import { platformWelcome } from '../../examples/platform/welcome.ts';
import { welcome } from '../../src/cli/dev/welcome.ts';
import { load } from '../../src/engine/load.ts';
import { worldOf } from '../support/gateway.ts';
import { MANIFEST, type Platform, startPlatform } from '../support/platform.ts';
import { expectSection } from '../support/section.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE = 'examples/platform/README.md';
const ADDRESSES = {
  gateway: 'http://127.0.0.1:8080',
  identity: 'http://127.0.0.1:7001',
  platform: 'http://127.0.0.1:7002',
};

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

/** A command block of the page, with the statuses that its text states. Only the first block states none. */
interface Step {
  readonly text: string;
  readonly statuses: readonly string[];
  readonly commands: string;
}

function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^([^\n]*?)(?: \(([\d, ]+)\))?:\n\n```sh\n([\s\S]*?)^```$/gm)].map(
    ([, text = '', statuses, commands = '']) => ({ text, statuses: statuses?.split(', ') ?? [], commands }),
  );
}

/** Prints the status of each response of curl on a line of standard error, and a line for each repetition of a poll. */
const PRELUDE = `curl() { command curl -w '%{stderr}STATUS %{http_code}\\n' "$@"; }
sleep() { echo REPEATED >&2; command sleep 0.05; }
`;

/** Runs all steps in one shell. Returns the statuses of each step; a poll has only its last one. */
async function run(steps: readonly Step[]): Promise<string[][]> {
  const script = PRELUDE + steps.map(({ commands }) => `echo STEP >&2\n${commands}`).join('');
  const { stderr } = await promisify(execFile)('sh', ['-euc', script], { cwd: temporaryFolder('sandbox-page') });
  const outputs = stderr.split('STEP\n').slice(1);
  return outputs.map((output) => {
    const polls = output
      .split('REPEATED\n')
      .map((part) => [...part.matchAll(/STATUS (\d+)/g)].map(([, status]) => status ?? ''));
    return polls.flatMap((statuses, index) => (index === polls.length - 1 ? statuses : statuses.slice(0, -1)));
  });
}

/** Returns the steps of the page with the addresses of the platform of this test. */
function steps(): Step[] {
  const page = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
  return stepsOf(page).map((step) => ({
    ...step,
    commands: step.commands
      .replaceAll(ADDRESSES.gateway, platform.url)
      .replaceAll(ADDRESSES.identity, platform.sandbox.identityUrl),
  }));
}

describe(PAGE, () => {
  it('shows the text that npm start prints', () => {
    const initial = load({ path: 'gateway.yaml', text: readFileSync(MANIFEST, 'utf8') }, worldOf());
    if (initial.plan === undefined) throw new Error('gateway.yaml has errors');
    const gateway = { url: ADDRESSES.gateway, adminUrl: 'http://127.0.0.1:9901', initial };
    const text = welcome('gateway.yaml', gateway, { echo: undefined, issuer: undefined, environment: {} });
    const { sandbox } = platform;
    const shown = { ...sandbox, identityUrl: ADDRESSES.identity, platformUrl: ADDRESSES.platform };
    const output = platformWelcome(text, shown, Object.keys(sandbox.environment), true);
    expectSection(PAGE, 'start', `\n\`\`\`console\n$ npm ci && npm start\n${output}\`\`\`\n\n`);
  });

  it('has the guide that the sandbox shows', () => {
    expectSection(PAGE, 'guide', sandboxGuide(ADDRESSES));
  });

  it('has commands with the stated statuses, for each flow', async () => {
    const all = steps();
    expect(all.length).toBeGreaterThan(20);
    expect(await run(all)).toEqual(all.map(({ statuses }) => statuses));
  });

  it('has commands that can be repeated, except for the code that works once', async () => {
    const repeatable = steps().filter(({ text }) => !text.includes('Each code works once'));
    expect(repeatable.length).toBe(steps().length - 1);
    expect(await run(repeatable)).toEqual(repeatable.map(({ statuses }) => statuses));
  });
});
