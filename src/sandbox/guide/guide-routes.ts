import { describeServer } from '../openapi.ts';
import type { SandboxRequest, SandboxRoute } from '../request.ts';
import type { SandboxResponse } from '../response.ts';
import { type SandboxAddresses, sandboxPage } from './guide.ts';

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

/** Responds with Markdown, or with the same text and links to a browser. */
function showPage({ headers }: SandboxRequest, addresses: SandboxAddresses): SandboxResponse {
  const text = sandboxPage(addresses);
  const isBrowser = headers.accept?.includes('text/html') === true;
  const type = `text/${isBrowser ? 'html' : 'plain'}; charset=utf-8`;
  return {
    status: 200,
    headers: { 'content-type': type, vary: 'Accept' },
    body: Buffer.from(isBrowser ? htmlPage(text) : text),
  };
}

function htmlPage(text: string): string {
  const escaped = text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  const linked = escaped.replace(/^(- .*)$/gm, (line) => line.replace(/http:[^\s,]+/g, '<a href="$&">$&</a>'));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signing sandbox</title>
<style>:root { color-scheme: light dark } main { white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 monospace }</style>
<main>${linked}</main>
</html>
`;
}
