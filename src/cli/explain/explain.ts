import { HTTP_METHODS, sortMethods } from '../../engine/http1/http-methods.ts';
import { parseJson } from '../../engine/json-pointer.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import { readBytes } from '../../engine/manifest/source.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { explain } from '../../prove/explain/explain-request.ts';
import { createOfflineRequest, headerValue } from '../../prove/offline/request-bytes.ts';
import { callerOfRole } from '../../prove/offline/role-claims.ts';
import type { CallerClaims } from '../../prove/offline/stub-verifier.ts';
import { toJson } from '../../report/report.ts';
import { loadPlanned, readOrFail } from '../manifest-file.ts';
import { chooseManifest, SINGLE_MANIFEST_OPTIONS } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { defineVerb, type Options, type OptionValues, UsageError } from '../terminal.ts';
import { formatExplanation } from './explain-text.ts';

/** The request headers that a gateway most often treats in a special way. */
const HEADERS =
  'Accept Accept-Language Authorization Content-Type Cookie If-None-Match Origin Range Traceparent Upgrade X-Forwarded-For X-Request-Id';

const OPTIONS = {
  role: valueOption('ROLE', 'send a valid token with this role', { manifestWords: 'roles' }),
  claims: valueOption('JSON', 'send a valid token with these claims', { manifestWords: 'claims' }),
  issuer: valueOption('NAME', 'the method of auth.tokens that verifies the token', { manifestWords: 'issuers' }),
  anonymous: { type: 'boolean', summary: 'send no token (default)' },
  header: valueOption("'NAME: VALUE'", 'add a header to the request', {
    multiple: true,
    short: 'H',
    starts: HEADERS.split(' ').map((name) => `${name}:`),
  }),
  body: valueOption('FILE', 'send this file as the body'),
  json: { type: 'boolean', summary: 'print the explanation as JSON' },
  ...SINGLE_MANIFEST_OPTIONS,
} as const satisfies Options;

export const verb = defineVerb({
  usage:
    "signing-gateway explain METHOD URL [FILE] [--role ROLE | --claims JSON | --anonymous] [--issuer NAME] [--header 'NAME: VALUE']... [--body FILE] [--json]",
  options: OPTIONS,
  choices: sortMethods(HTTP_METHODS),
  examples: [
    'signing-gateway explain GET /api/contacts --role user',
    "signing-gateway explain POST /api/v1/login --body credentials.json --header 'Accept-Language: de' --json",
  ],
  async run(terminal, { values, positionals }) {
    const { out, outColour } = terminal;
    const [method, url, ...files] = positionals;
    if (method === undefined || url === undefined)
      throw new UsageError('name the request: METHOD URL, for example GET /api/contacts');
    const file = chooseManifest([values.config, ...files]);
    const request = readRequest(method, url, values.header ?? [], values.body);
    const loaded = loadPlanned(file, terminal);
    const caller = callerOf(values, loaded.manifest);
    const explanation = await explain(loaded, request, caller?.claims, undefined, caller?.issuer);
    out(values.json ? toJson(explanation) : formatExplanation(explanation, outColour));
    return 0;
  },
});

function readRequest(method: string, url: string, lines: readonly string[], bodyFile: string | undefined) {
  if (/[\r\n]/.test([method, url, ...lines].join('')))
    throw new UsageError('the method, URL and headers cannot contain line breaks; remove them');
  const headers = lines.flatMap(readHeader);
  if (bodyFile?.endsWith('.json') && headerValue(headers, 'content-type') === undefined)
    headers.push('Content-Type', 'application/json');
  return createOfflineRequest(
    method,
    url,
    headers,
    bodyFile === undefined ? undefined : readOrFail(bodyFile, 'name the file of the body', () => readBytes(bodyFile)),
  );
}

function readHeader(line: string): string[] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new UsageError(`"${line}" is not a header; write 'Name: value'`);
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function callerOf({ role, claims, anonymous, issuer }: OptionValues<typeof OPTIONS>, manifest: Manifest) {
  const { auth } = manifest;
  if ([role, claims, anonymous].filter((option) => option !== undefined).length > 1)
    throw new UsageError('--role, --claims and --anonymous exclude each other; use one');
  const names = tokenEntries(auth).flatMap(({ name }) => name ?? []);
  if (issuer !== undefined && !names.includes(issuer))
    throw new UsageError(`auth.tokens has no method "${issuer}"${suggestion(issuer, names)}`);
  if (issuer !== undefined && (claims ?? role) === undefined)
    throw new UsageError('--issuer names the issuer of a token; add --role or --claims');
  if (claims !== undefined) return { claims: readClaims(claims), issuer };
  if (role === undefined) return undefined;
  if (auth === undefined) throw new UsageError('the manifest has no "auth", so tokens have no role; remove --role');
  return callerOfRole(manifest, role, issuer);
}

function readClaims(text: string): CallerClaims {
  const claims = parseJson(text);
  if (isMap(claims)) return claims as CallerClaims;
  throw new UsageError(`--claims is not a JSON object; write for example '{"company_role":"user"}'`);
}
