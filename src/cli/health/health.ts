import * as http from 'node:http';
import * as https from 'node:https';
import { parseArgs } from 'node:util';
import { durationMs } from '../../manifest/units.ts';
import { chooseManifest } from '../manifest-file.ts';
import { type ExitCode, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';
import { adminAddress } from './admin-address.ts';

const DEFAULT_TIMEOUT = '2s';

const OPTIONS = {
  live: {
    type: 'boolean',
    summary: 'ask whether it answers at all (/livez), not whether it should get requests (/readyz)',
  },
  timeout: {
    type: 'string',
    valueName: 'DURATION',
    summary: `how long it may take to answer; ${DEFAULT_TIMEOUT} when left out`,
  },
  config: { type: 'string', short: 'c', valueName: 'FILE', summary: 'the manifest, as FILE alone says it' },
} as const satisfies Options;

export const health: Verb = {
  usage: 'signing-gateway health [FILE] [--live] [--timeout DURATION]',
  options: OPTIONS,
  examples: [
    'signing-gateway health && echo ready',
    'signing-gateway health /etc/signing-gateway/gateway.yaml --live --timeout 500ms',
  ],
  async run({ args, env, out }: Terminal): Promise<ExitCode> {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
    const timeoutMs = readTimeout(values.timeout ?? DEFAULT_TIMEOUT);
    const address = adminAddress(chooseManifest([values.config, ...positionals]), env);
    const { isHealthy, message } = await probe(`${address}${values.live ? '/livez' : '/readyz'}`, timeoutMs);
    out(`${message}\n`);
    return isHealthy ? 0 : 1;
  },
};

function readTimeout(text: string): number {
  if (!/^[1-9]\d{0,5}(?:ms|s|m)$/.test(text)) throw new UsageError(`"${text}" is no time limit; write 500ms, or 2s`);
  return durationMs(text);
}

interface ProbeResult {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Never rejects: no answer is one as well. */
async function probe(url: string, timeoutMs: number): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await get(url, signal);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return {
      isHealthy: answer.statusCode === 200,
      message: messageOf(Buffer.concat(chunks).toString(), answer.statusCode),
    };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why = signal.aborted ? `not within ${timeoutMs} ms` : code;
    return { isHealthy: false, message: `no answer from ${url}: ${why}` };
  }
}

function get(url: string, signal: AbortSignal): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    // It is this machine that is asked, it is told no secret, and its certificate is for other names.
    const options = { signal, agent: false, rejectUnauthorized: false } as const;
    (url.startsWith('https:') ? https : http).get(url, options, resolve).on('error', reject);
  });
}

function messageOf(body: string, status: number | undefined): string {
  try {
    const { status: word, reasons = [], detail } = JSON.parse(body);
    if (typeof detail === 'string') return `answered ${status}: ${detail}`;
    return reasons.length === 0 ? String(word) : `${word}: ${reasons.join('; ')}`;
  } catch {
    return `answered ${status}, and what no gateway says`;
  }
}
