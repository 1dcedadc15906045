import { text } from 'node:stream/consumers';
import { durationMs } from '../../engine/manifest/units.ts';
import { readOverrides } from '../address-options.ts';
import { readLocalAdmin } from '../admin-address.ts';
import { chooseManifest, SINGLE_MANIFEST_OPTIONS } from '../manifest-file.ts';
import { parseArguments, valueOption } from '../parse-arguments.ts';
import { errorCode, sendRequest } from '../send-request.ts';
import { type ExitCode, type Options, type Terminal, UsageError, type Verb } from '../terminal.ts';

const DEFAULT_TIMEOUT = '2s';

const OPTIONS = {
  live: {
    type: 'boolean',
    summary: 'check that the process responds (/livez) instead of that it is ready for requests (/readyz)',
  },
  timeout: valueOption('DURATION', `time limit for the response, for example 500ms (default ${DEFAULT_TIMEOUT})`),
  admin: valueOption('ADDRESS', 'the address that "run --admin" got; replaces the address in "admin" of the manifest'),
  ...SINGLE_MANIFEST_OPTIONS,
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway health [FILE] [--live] [--timeout DURATION] [--admin ADDRESS]',
  options: OPTIONS,
  examples: [
    'signing-gateway health && echo ready',
    'signing-gateway health /etc/signing-gateway/gateway.yaml --live --timeout 500ms',
  ],
  async run({ args, env, out }: Terminal): Promise<ExitCode> {
    const { values, positionals } = parseArguments(args, OPTIONS);
    const file = chooseManifest([values.config, ...positionals]);
    const timeoutMs = readTimeout(values.timeout ?? DEFAULT_TIMEOUT);
    const { url } = readLocalAdmin(file, env, readOverrides({ admin: values.admin }), '--admin');
    const { isHealthy, message } = await probe(`${url}${values.live ? '/livez' : '/readyz'}`, timeoutMs);
    out(`${message}\n`);
    return isHealthy ? 0 : 1;
  },
};

function readTimeout(timeout: string): number {
  if (!/^[1-9]\d{0,5}(?:ms|s|m)$/.test(timeout))
    throw new UsageError(`"${timeout}" is not a valid timeout; write for example 500ms or 2s`);
  return durationMs(timeout);
}

/** Requests a health endpoint. Never rejects: a missing response is an unhealthy result. */
async function probe(url: string, timeoutMs: number) {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // The peer is this machine, the request carries no secret, and the certificate names other hosts.
    const response = await sendRequest(url, { signal, rejectUnauthorized: false });
    const message = messageOf(await text(response), response.statusCode);
    return { isHealthy: response.statusCode === 200, message };
  } catch (error) {
    const reason = signal.aborted ? `timed out after ${timeoutMs} ms` : errorCode(error);
    return { isHealthy: false, message: `no response from ${url}: ${reason}` };
  }
}

function messageOf(body: string, status: number | undefined): string {
  try {
    const { status: word, reasons = [], detail } = JSON.parse(body);
    if (typeof detail === 'string') return `status ${status}: ${detail}`;
    return reasons.length === 0 ? String(word) : `${word}: ${reasons.join('; ')}`;
  } catch {
    return `status ${status}, and the response is not from a gateway; check the address of "admin"`;
  }
}
