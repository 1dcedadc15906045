import { text } from 'node:stream/consumers';
import { durationMs } from '../../engine/manifest/units.ts';
import { readOverrides } from '../address-options.ts';
import { readLocalAdmin } from '../admin-address.ts';
import { chooseManifest, SINGLE_MANIFEST_OPTIONS } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { pinnedCertificate, sendRequest, TOKEN_VARIABLE } from '../send-request.ts';
import { defineVerb, errorCode, UsageError } from '../terminal.ts';

const DEFAULT_TIMEOUT = '2s';

export const verb = defineVerb({
  usage: 'signing-gateway health [FILE] [--live | --hash HASH] [--timeout DURATION] [--admin ADDRESS]',
  options: {
    live: {
      type: 'boolean',
      summary: 'check that the process responds (/livez) instead of that it is ready for requests (/readyz)',
    },
    timeout: valueOption('DURATION', `time limit for the response, for example 500ms (default ${DEFAULT_TIMEOUT})`),
    hash: valueOption('HASH', 'also check that this manifest is active: the first 8 or more digits of its hash'),
    admin: valueOption(
      'ADDRESS',
      'the address that "run --admin" got; replaces the address in "admin" of the manifest',
    ),
    ...SINGLE_MANIFEST_OPTIONS,
  },
  examples: [
    'signing-gateway health && echo ready',
    'signing-gateway health /etc/signing-gateway/gateway.yaml --live --timeout 500ms',
    'signing-gateway health --hash "$(signing-gateway routes --json | jq -r .hash)"',
  ],
  async run({ env, out }, { values, positionals }) {
    const file = chooseManifest([values.config, ...positionals]);
    const timeoutMs = readTimeout(values.timeout ?? DEFAULT_TIMEOUT);
    const { hash } = values;
    if (hash !== undefined && values.live)
      throw new UsageError('--live and --hash exclude each other; remove one of them');
    if (hash !== undefined && !/^[0-9a-f]{8,64}$/.test(hash))
      throw new UsageError(
        '--hash takes at least 8 hexadecimal digits, as in "hash" of "signing-gateway routes --json"',
      );
    const { url, token, certificate } = readLocalAdmin(file, env, readOverrides({ admin: values.admin }), '--admin');
    const { isHealthy, message } =
      hash === undefined
        ? await probe(`${url}${values.live ? '/livez' : '/readyz'}`, timeoutMs)
        : await probe(`${url}/status`, timeoutMs, {
            hash,
            token: env[TOKEN_VARIABLE] ?? token,
            certificate: certificate?.(),
          });
    out(`${message}\n`);
    return isHealthy ? 0 : 1;
  },
});

function readTimeout(timeout: string): number {
  if (!/^[1-9]\d{0,5}(?:ms|s|m)$/.test(timeout))
    throw new UsageError(`"${timeout}" is not a valid timeout; write for example 500ms or 2s`);
  return durationMs(timeout);
}

interface ExpectedManifest {
  readonly hash: string;
  readonly token: string | undefined;
  /** The certificate that the listener must present, since it gets the token. */
  readonly certificate: string | undefined;
}

/** Requests a health endpoint. Never rejects: a missing response is an unhealthy result. */
async function probe(url: string, timeoutMs: number, expected?: ExpectedManifest) {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const headers = expected?.token === undefined ? {} : { authorization: `Bearer ${expected.token}` };
    // Without a token the request carries no secret, the peer is this machine, and the certificate names other hosts.
    const trust = expected === undefined ? { rejectUnauthorized: false } : pinnedCertificate(expected.certificate);
    const response = await sendRequest(url, { signal, headers, ...trust });
    const body = await text(response);
    const isHealthy = response.statusCode === 200;
    const reason = expected === undefined || !isHealthy ? undefined : unmetBy(body, expected.hash);
    return { isHealthy: isHealthy && reason === undefined, message: reason ?? messageOf(body, response.statusCode) };
  } catch (error) {
    const reason = signal.aborted ? `timed out after ${timeoutMs} ms` : errorCode(error);
    return { isHealthy: false, message: `no response from ${url}: ${reason}` };
  }
}

/** Returns the reason why a status is not that of a gateway which serves this manifest. */
function unmetBy(body: string, hash: string): string | undefined {
  const { status, reasons, manifest } = JSON.parse(body);
  if (!String(manifest?.hash).startsWith(hash)) return `another manifest is active: ${manifest?.hash}`;
  return status === 'ready' || status === 'degraded' ? undefined : `${status}: ${reasons?.join('; ')}`;
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
