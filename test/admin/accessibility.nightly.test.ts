import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { accessibilityViolations } from '../support/accessibility.ts';
import { type GatewayWithAdmin, noReloads, startGatewayWithAdmin } from '../support/admin.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import { runCli } from '../support/cli.ts';
import { worldOf } from '../support/gateway.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: '\${UP}' }, gone: { url: 'http://127.0.0.1:9' } }
auth:
  tokens:
    jwt: { jwks: 'http://127.0.0.1:9/jwks', algorithms: [ES256], issuer: 'http://issuer', audience: signing }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
stores: { counters: { redis: 'redis://127.0.0.1:9', secret: '\${SECRET}' } }
rateLimits: { opening: { key: client, allow: 2 per 1h, burst: 1, store: counters }, closing: { key: subject, allow: 2 per 1h, mode: report } }
routes:
  - { id: open, method: GET, path: '/open/{id}', upstream: up, access: public, rateLimits: [opening] }
  - { id: gone, method: GET, path: /gone, upstream: gone, access: public }
  - { id: closed, method: any, path: /closed/**, upstream: up, access: protected, roles: [admin] }
`;
const WIDTHS = [400, 1400] as const;
const COLOR_SCHEMES = ['light', 'dark'] as const;

/** The steps that make a view display all of its parts. */
const VIEWS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  '#/overview': async (page) => {
    await page.locator('#upstreams tbody tr').nth(1).waitFor();
    await page.locator('#limits tbody tr').nth(1).waitFor();
  },
  '#/routes': async (page) => page.getByText('3 routes', { exact: true }).waitFor(),
  '#/routes?layout=paths': async (page) => page.locator('#paths li').nth(2).waitFor(),
  '#/routes/open': async (page) => page.locator('#route-source pre').waitFor(),
  '#/decisions': async (page) => {
    await eventually('the page subscribes', () => site.gateway.subscribers === 1);
    for (const path of ['/open/1', '/gone', '/closed/1', '/nowhere']) await fetch(site.url + path);
    await page.locator('.summary-row button').nth(3).waitFor();
    for (const index of [0, 3]) await page.locator('.summary-row button').nth(index).click();
  },
  '#/surrogates': async (page) => page.getByRole('heading', { level: 1, name: 'Surrogates' }).waitFor(),
  '#/manifest': async (page) => page.locator('.note').nth(2).waitFor(),
  '#/explain': async (page) => {
    await page.getByLabel('URL or path').fill('/open/1');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.locator('#explained pre').waitFor();
  },
};

let browser: Browser;
let upstream: Upstream;
let site: GatewayWithAdmin;

describe.skipIf(!hasBrowser)('the accessibility of the admin page', () => {
  beforeAll(async () => {
    browser = await startBrowser();
    upstream = await startUpstream((_request, response) => void response.end('ok'));
    const env = { UP: upstream.url, SECRET: 'x'.repeat(16) };
    const text = MANIFEST.replaceAll('access:', 'acess:');
    const { problems } = load({ path: 'gateway.yaml', text }, worldOf(env));
    const sources = [{ path: 'gateway.yaml', text }];
    const outcome = { cause: 'change', at: new Date(), ms: 3, files: ['gateway.yaml'], problems, sources } as const;
    const reloader = { ...noReloads(), lastOutcome: { kind: 'rejected', ...outcome } as const };
    site = await startGatewayWithAdmin(MANIFEST, env, {}, { reloader });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await upstream?.close();
  });

  describe.each(COLOR_SCHEMES)('in the %s colour scheme', (colorScheme) => {
    it.each(WIDTHS)('has no violation in any view, %i pixels wide', async (width) => {
      const { page } = await openPage(browser, `${site.admin.url}/`, { colorScheme, viewport: { width, height: 900 } });
      await page.getByText('The saved manifest is not active').waitFor();
      for (const [hash, display] of Object.entries(VIEWS)) {
        await page.evaluate(`location.hash = '${hash}'`);
        await display(page);
        expect([hash, await accessibilityViolations(page)]).toEqual([hash, []]);
        expect([hash, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([hash, width]);
      }
      await page.close();
    });

    it.each(WIDTHS)('has no violation in the page of routes --access, %i pixels wide', async (width) => {
      const folder = temporaryFolder('access', { 'gateway.yaml': MANIFEST });
      const { code, out } = await runCli(['routes', '--access', '-f', 'html'], folder, {
        UP: 'http://127.0.0.1:9',
        SECRET: 'x'.repeat(16),
      });
      expect(code).toBe(0);
      writeFileSync(join(folder, 'access.html'), out);
      const url = pathToFileURL(join(folder, 'access.html')).href;
      const { page, complaints } = await openPage(browser, url, { colorScheme, viewport: { width, height: 900 } });
      await page.locator('.tree li').nth(2).waitFor();
      await page.getByRole('button', { name: 'Route' }).click();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect([complaints, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([[], width]);
      await page.close();
    });
  });
});
