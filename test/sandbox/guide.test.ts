import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { request, startSandbox } from './client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  sandbox.setGatewayUrl('http://127.0.0.1:4711');
});
afterAll(() => sandbox.close());

describe('the page of the sandbox', () => {
  it('has the accounts, tokens, ids and addresses as text, on both servers', async () => {
    const { headers, body } = await request(sandbox.identityUrl, 'GET /');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    for (const { email, password, role, totpSecret = '' } of sandbox.accounts) {
      const row = [email, password, role, totpSecret].map((cell) => (cell === '' ? '' : `\`${cell}\``));
      expect(body).toContain(`| ${row.join(' | ')} |\n`);
    }
    for (const [name, id] of Object.entries(sandbox.samples)) expect(body).toContain(`| \`${name}\` | \`${id}\` |\n`);
    expect(body).toContain('| `facebook` | `facebook-demo-token-of-the-admin` | `admin@acme.example` |\n');
    expect(body).toContain(`\nGATEWAY=http://127.0.0.1:4711\nSANDBOX=${sandbox.identityUrl}\n`);
    expect(body).toContain(`${sandbox.platformUrl}/openapi.json\n`);
    expect(body).toContain(`${sandbox.identityUrl}/outbox\n`);
    expect((await request(sandbox.platformUrl, 'GET /')).body).toBe(body);
  });

  it('is HTML with links in a browser', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
    const page = await request(sandbox.identityUrl, 'GET /', { headers });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const links = [...page.body.matchAll(/<a href="([^"]+)">([^<]+)<\/a>/g)].map(([, target, text]) => [target, text]);
    const addresses = [
      'http://127.0.0.1:4711',
      sandbox.identityUrl,
      `${sandbox.identityUrl}/openapi.json`,
      sandbox.platformUrl,
      `${sandbox.platformUrl}/openapi.json`,
      `${sandbox.identityUrl}/outbox`,
    ];
    expect(links).toEqual(addresses.map((address) => [address, address]));
    for (const address of addresses.slice(1)) expect((await fetch(address)).status).toBe(200);
    const text = (await request(sandbox.identityUrl, 'GET /')).body as string;
    const unescaped = (html: string) => html.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));
    const commands = [...page.body.matchAll(/<pre><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, html]) =>
      unescaped(html),
    );
    expect(commands).toEqual([...text.matchAll(/^```sh\n([\s\S]*?)\n```$/gm)].map(([, block]) => block));
    const rows = [...page.body.matchAll(/<tr>(?:<td>.*?)(?=<tr>|<\/table>)/g)];
    expect(rows.length).toBe(text.match(/^\| `/gm)?.length);
    expect([...page.body.matchAll(/<h([123])>/g)].map(([, level]) => level)).toEqual(
      [...text.matchAll(/^(#+) /gm)].map(([, hashes = '']) => String(hashes.length)),
    );
    const main = page.body.replace(/^[\s\S]*<main>|<\/main>[\s\S]*$/g, '');
    expect(unescaped(main.replace(/<[^>]*>/g, ''))).not.toMatch(/^#|```|^\|/m);
  });
});
