import { fileErrorCode } from '../../engine/manifest/source.ts';
import { readLocalAdmin } from '../admin-address.ts';
import { chooseManifest, DEFAULT_MANIFEST } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { TOKEN_VARIABLE } from '../send-request.ts';
import { CommandError, type Options, type OptionValues, type Terminal, UsageError } from '../terminal.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';

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
