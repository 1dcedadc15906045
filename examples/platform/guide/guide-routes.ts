import { describeServer } from '../openapi.ts';
import type { SandboxRequest, SandboxRoute } from '../request.ts';
import type { SandboxResponse } from '../response.ts';
import { type SandboxAddresses, sandboxPage } from './guide.ts';
import { htmlPage } from './html-page.ts';

/** Adds the page of the sandbox and the OpenAPI document of all routes to the routes of a server. */
export function withGuide(
  server: 'identity' | 'platform',
  routes: readonly SandboxRoute[],
  addresses: SandboxAddresses,
): readonly SandboxRoute[] {
  const all: readonly SandboxRoute[] = [
    ...routes,
    [
      'GET /',
      'public',
      (request: SandboxRequest) => showPage(request, addresses),
      { summary: 'Read the page of the sandbox' },
    ],
    [
      'GET /openapi.json',
      'public',
      () => ({ status: 200, body: describeServer(`Sandbox: ${server}`, addresses[server], all) }),
      { summary: 'Get this document' },
    ],
  ];
  return all;
}

/** Responds with Markdown, and to a browser with the same content in HTML. */
function showPage({ headers }: SandboxRequest, addresses: SandboxAddresses): SandboxResponse {
  const text = sandboxPage(addresses);
  const isBrowser = headers.accept?.includes('text/html') === true;
  const type = `text/${isBrowser ? 'html' : 'plain'}; charset=utf-8`;
  return {
    status: 200,
    headers: { 'content-type': type, vary: 'Accept' },
    body: Buffer.from(isBrowser ? htmlPage('Signing sandbox', text) : text),
  };
}
