import type { IncomingMessage } from 'node:http';
import type { Json } from '../../admin/admin-endpoint.ts';
import { CANDIDATE_STATES } from '../../admin/candidate-report.ts';
import type { CandidateResponse } from '../../admin/endpoints/candidate.ts';
import { parseJson } from '../../engine/json-pointer.ts';
import { fileErrorCode } from '../../engine/manifest/source.ts';
import { printable } from '../../engine/problem/problem.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { readLocalAdmin } from '../admin-address.ts';
import type { ChangeCounts } from '../change-formats.ts';
import { chooseManifest, DEFAULT_MANIFEST } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { pinnedCertificate, sendRequest, TOKEN_VARIABLE } from '../send-request.ts';
import { CommandError, errorCode, type Options, type OptionValues, type Terminal, UsageError } from '../terminal.ts';

/** The address of an admin API, and the credentials for it. */
interface AdminConnection {
  readonly url: string;
  readonly token: string | undefined;
  /**
   * The certificate that the listener must present, as PEM. It is compared as a whole, because it names other hosts than this machine.
   * By default a certificate must be valid for the host of the URL.
   */
  readonly certificate?: string | undefined;
}

/** A response of the admin API. */
interface AdminReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The admin API did not respond, so the request may succeed later. */
export class UnreachableError extends CommandError {}

export function stopError({ reason }: AbortSignal): CommandError {
  return new CommandError(`stopped by ${String(reason)}; the candidate of the gateway stays as it is`);
}

/** A report with all groups of changes is smaller. */
const MAX_RESPONSE_BYTES = 32 * 1024 ** 2;
const TIMEOUT_MS = 10_000;
/** Loading a large manifest takes seconds. */
const PUT_TIMEOUT_MS = 180_000;

export type AdminClient = ReturnType<typeof createAdminClient>;

/** Sends requests to the admin API of a gateway. */
export function createAdminClient({ url, token, certificate }: AdminConnection, stop: AbortSignal) {
  const options = pinnedCertificate(certificate);
  return { url, request };

  /** Resolves to a JSON object of any status but 401. Rejects with an `UnreachableError`, or with a `CommandError` for another server. */
  async function request(method: 'GET' | 'PUT' | 'DELETE', path: string, body?: Buffer): Promise<AdminReply> {
    const timeoutMs = body === undefined ? TIMEOUT_MS : PUT_TIMEOUT_MS;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stop, timeout]);
    const reply = await exchange(method, path, signal, body).catch((error: unknown) => {
      if (error instanceof CommandError) throw error;
      if (stop.aborted) throw stopError(stop);
      const reason = timeout.aborted ? `timed out after ${timeoutMs / 1_000} s` : reasonOf(error);
      throw new UnreachableError(`no response from ${url}: ${reason}`);
    });
    const { detail } = reply.body;
    if (reply.status === 401)
      throw new CommandError(`${url} refuses the token; set ${TOKEN_VARIABLE} to the "admin.token" of the gateway`);
    if (reply.status === 403 || reply.status === 421) throw new CommandError(printable(String(detail)));
    return reply;
  }

  async function exchange(method: string, path: string, signal: AbortSignal, body?: Buffer): Promise<AdminReply> {
    const headers = {
      Accept: 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/yaml', 'Content-Length': body.length }),
    };
    const response = await sendRequest(`${url}${path}`, { ...options, method, headers, signal }, body);
    return readReply(response, url);
  }
}

async function readReply(response: IncomingMessage, url: string): Promise<AdminReply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw foreignResponse(url, response.statusCode);
    chunks.push(chunk);
  }
  const body = parseJson(Buffer.concat(chunks).toString());
  if (!isMap(body)) throw foreignResponse(url, response.statusCode);
  return { status: response.statusCode ?? 0, body };
}

/** Creates the error for a response that is not from an admin API with candidates. */
export function foreignResponse(url: string, status: number | undefined): CommandError {
  return new CommandError(
    `the response of ${url} (status ${status}) is not from a gateway with candidates; check the address and the version of the gateway`,
  );
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ECONNREFUSED')
    return `${code}; check that the gateway runs and that this is the address of its "admin"`;
  if (/CERT|SELF_SIGNED|ISSUER/.test(code))
    return `${code}; set NODE_EXTRA_CA_CERTS to the authority of its certificate`;
  return code;
}

/** The report of a candidate, as the admin API sends it. */
export type CandidateBody = Json<CandidateResponse>;

export async function fetchStatus(client: AdminClient): Promise<CandidateBody> {
  return statusOf(await client.request('GET', '/candidate'), client);
}

/** Returns the report of a response. Throws a `CommandError` if the response is not from a gateway with candidates. */
export function statusOf({ status, body }: AdminReply, { url }: Pick<AdminClient, 'url'>): CandidateBody {
  if (status !== 200 || !isReport(body)) throw foreignResponse(url, status);
  return body as unknown as CandidateBody;
}

/** Tests the members that the formats read: another version of the gateway may have other ones. */
function isReport({ state, requests, same, errors, problems, changed, unknown, skipped }: AdminReply['body']): boolean {
  const [isCount, isCounts] = [Number.isSafeInteger, (value: unknown) => isMap(value) && isCount(value['total'])];
  return (
    CANDIDATE_STATES.some((known) => known === state) &&
    [requests, same, errors].every(isCount) &&
    [changed, unknown, skipped].every(isCounts) &&
    [problems, memberOf(changed, 'groups')].every(Array.isArray) &&
    [memberOf(changed, 'kinds'), memberOf(unknown, 'reasons'), memberOf(skipped, 'reasons')].every(isMap)
  );
}

function memberOf(value: unknown, name: string): unknown {
  return isMap(value) ? value[name] : undefined;
}

/** Requests whose decisions were compared: those with an unknown decision were not. */
export function comparedCount({ same, changed }: CandidateBody): number {
  return same + changed.total;
}

/** True if the saved file of `--candidate` is not compared. An earlier version of it may be. */
export function hasSavedProblem({ reason, problem_count }: CandidateBody): boolean {
  return reason !== null || problem_count > 0;
}

/** Returns the counts that `--fail-on` is about. */
export function countsOf({ requests, unknown, changed }: CandidateBody): ChangeCounts {
  return { requests, unknown: unknown.total, kinds: changed.kinds };
}

export const CONNECTION_OPTIONS = {
  url: valueOption('URL', 'the admin API; by default that of the manifest, on this machine'),
  token: valueOption(
    'TOKEN',
    `the token of the admin API; better set ${TOKEN_VARIABLE}, which other users cannot see (default: that of the manifest)`,
  ),
  config: valueOption('FILE', `the manifest that names the admin API (default ${DEFAULT_MANIFEST})`, { short: 'c' }),
} as const satisfies Options;

/** Creates the client for the admin API of the options or, by default, of the manifest. */
export function connect(
  { url, token: option, config }: OptionValues<typeof CONNECTION_OPTIONS>,
  { env, stop }: Terminal,
): AdminClient {
  const token = option ?? env[TOKEN_VARIABLE];
  if (url !== undefined && config !== undefined)
    throw new UsageError('--url and --config exclude each other; remove one of them');
  if (url !== undefined) return createAdminClient({ url: parseUrl(url), token }, stop);
  const file = chooseManifest([config]);
  const local = readLocalAdmin(file, env, {}, '--url');
  return createAdminClient(
    { url: local.url, token: token ?? local.token, certificate: readCertificate(file, local.certificate) },
    stop,
  );
}

function readCertificate(file: string, read: (() => string) | undefined): string | undefined {
  try {
    return read?.();
  } catch (error) {
    throw new CommandError(`${file}: the certificate of "admin" cannot be read: ${fileErrorCode(error)}; use --url`);
  }
}

/** Returns the URL without its last slash. A proxy may serve the admin API under a prefix. */
function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--url takes the address of the admin API, for example http://127.0.0.1:9901');
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`--url must not contain credentials; set ${TOKEN_VARIABLE}`);
  if (url.search !== '' || url.hash !== '') throw new UsageError('--url must not have a query or a fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
