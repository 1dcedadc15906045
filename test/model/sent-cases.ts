import type { OfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { requestBytes } from '../../src/prove/offline/request-bytes.ts';
import { PUBLIC_ALL } from '../support/gateway.ts';
import { sendRequest } from '../support/raw.ts';
import { eventually, type Site, startSite } from '../support/site.ts';
import type { RecordedRequest } from '../support/upstream.ts';
import { offlineRequest } from './compared-decisions.ts';
import type { CaseRequest, Json } from './random-case.ts';

/** Starts a site whose upstream responds without a body: no login has a token. */
export async function startSilentSite(): Promise<Site> {
  const site = await startSite(PUBLIC_ALL);
  site.respond = (_request, response) => void response.end();
  return site;
}

/** Returns the manifest with the addresses of a site. Both upstreams are one server. */
export function localized(manifest: Json, { issuer, upstream }: Site): Json {
  const text = JSON.stringify({ listen: '127.0.0.1:0', ...manifest })
    .replaceAll('https://k.example/keys', issuer.jwksUrl)
    .replaceAll(/http:\/\/127\.0\.0\.1:[89]"/g, `${upstream.url}"`);
  return JSON.parse(text);
}

interface SentCase {
  readonly sent: OfflineRequest;
  readonly status: number;
  /** The line of the access log. */
  readonly line: Record<string, unknown>;
  /** The request that the upstream received. */
  readonly received: RecordedRequest | undefined;
}

/** Sends a request to the gateway of a site, which has this manifest. */
export async function sendCase(request: CaseRequest, manifest: Json, site: Site): Promise<SentCase> {
  const { gateway, upstream } = site;
  const sent = offlineRequest(request, await tokenOf(request, manifest, site));
  const [lines, requests] = [gateway.lines.length, upstream.requests.length];
  const { status } = await sendRequest(gateway.port, Buffer.concat(requestBytes(sent).chunks));
  await eventually('the line', () => gateway.lines.length > lines);
  return { sent, status, line: gateway.lines[lines] ?? {}, received: upstream.requests[requests] };
}

/** Returns the token of a caller. An issuer checks that `sub` is a text. */
async function tokenOf({ caller }: CaseRequest, { auth }: Json, { issuer }: Site): Promise<string> {
  if (typeof caller === 'string') return 'invalid';
  const [first = 'i'] = JSON.stringify(auth).match(/(?<="issuer":")\w+/) ?? [];
  const defaults = { company_role: undefined, sub: undefined };
  return issuer.token({ ...defaults, ...caller.claims, iss: caller.issuer ?? first, aud: 'a' });
}
