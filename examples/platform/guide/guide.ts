import { DEMO_ACCOUNTS, SAMPLES, SOCIAL_TOKENS } from '../samples.ts';
import type { Flow, FlowStep } from './flow.ts';
import {
  COMPANY_FLOW,
  ENROLMENT_FLOW,
  LOGIN_FLOW,
  RATE_LIMIT_FLOW,
  RECOVERY_FLOW,
  SECOND_FACTOR_FLOW,
  SOCIAL_LOGIN_FLOW,
} from './identity-flows.ts';
import { DOWNLOAD_FLOW, JOB_FLOW, LIST_FLOW, NOTIFICATION_FLOW, WORKFLOW_FLOW } from './platform-flows.ts';

/** Where the gateway and the servers of the sandbox are. */
export interface SandboxAddresses {
  readonly gateway: string;
  readonly identity: string;
  readonly platform: string;
}

const FLOWS: readonly Flow[] = [
  LOGIN_FLOW,
  SOCIAL_LOGIN_FLOW,
  SECOND_FACTOR_FLOW,
  ENROLMENT_FLOW,
  RECOVERY_FLOW,
  COMPANY_FLOW,
  DOWNLOAD_FLOW,
  WORKFLOW_FLOW,
  NOTIFICATION_FLOW,
  JOB_FLOW,
  LIST_FLOW,
  RATE_LIMIT_FLOW,
];

/** Returns the page of the sandbox, in Markdown. */
export function sandboxPage(addresses: SandboxAddresses): string {
  const { gateway, identity, platform } = addresses;
  return `# Signing sandbox

A local stand-in for the upstream services of the signing platform, for development and tests only.

- Gateway: ${gateway}
- Identity server: ${identity}, OpenAPI: ${identity}/openapi.json
- Platform server: ${platform}, OpenAPI: ${platform}/openapi.json
- Outbox with all mails: ${identity}/outbox

${sandboxGuide(addresses)}`;
}

/** Returns the part of the page that the documentation has too: seed data, and commands for each flow. */
export function sandboxGuide({ gateway, identity }: SandboxAddresses): string {
  const accounts = DEMO_ACCOUNTS.map(({ email, password, role, totpSecret = '' }) => [
    email,
    password,
    role,
    totpSecret,
  ]);
  const socialTokens = SOCIAL_TOKENS.map(({ provider, token, email }) => [provider, token, email]);
  const samples = Object.entries(SAMPLES).map(([name, id]) => [name, id]);
  return `## Accounts

${table(['email', 'password', 'role', 'TOTP secret'], accounts)}
## Tokens for social login

${table(['provider', 'token', 'account'], socialTokens)}
## Sample ids

${table(['object', 'id'], samples)}
## Commands

The lines work when pasted into a shell, in this order. The numbers are the statuses of the responses. Begin with these variables:

\`\`\`sh
GATEWAY=${gateway}
SANDBOX=${identity}
JSON='Content-Type: application/json'
field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
\`\`\`

${FLOWS.map(flowText).join('\n')}`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const codeRows = rows.map((row) => line(row.map((cell) => (cell === '' ? '' : `\`${cell}\``))));
  return line(header) + line(header.map(() => '---')) + codeRows.join('');
}

function flowText({ title, steps }: Flow): string {
  return `### ${title}\n\n${steps.map(stepText).join('\n')}`;
}

function stepText({ text, statuses, commands }: FlowStep): string {
  return `${text} (${statuses.join(', ')}):\n\n\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`;
}
