import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessibilityViolations } from '../support/accessibility.ts';
import { type GatewayWithAdmin, startGatewayWithAdmin } from '../support/admin.ts';
import { hasBrowser, openPage, startBrowser } from '../support/browser.ts';
import {
  activeCandidate,
  changeGroup,
  comparisonOf,
  fakeCandidate,
  REFUSED,
  rejectedFile,
} from '../support/candidate.ts';
import { eventually } from '../support/site.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const HOSTILE = '<img src=x onerror=document.title=1>';
const WIDTHS = [400, 1400] as const;
const COLOR_SCHEMES = ['light', 'dark'] as const;

const witnessOf = (path: string) => [{ id: 'id-1', at: 0, method: 'GET', path, keyed: false }];
const added = changeGroup({
  kind: 'newly-allowed',
  from: { ...REFUSED, route: null, status: 404, refusal: 'route_unknown', reason: 'route_unknown' },
  to: { ...REFUSED, outcome: 'forwarded', route: 'added', upstream: 'up', status: null, refusal: null, reason: null },
  requests: 1,
  witnesses: witnessOf('/added'),
});

describe.skipIf(!hasBrowser)('the view of the candidate', () => {
  const candidate = fakeCandidate();
  let browser: Browser;
  let site: GatewayWithAdmin;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    browser = await startBrowser();
    site = await startGatewayWithAdmin(MANIFEST, {}, {}, { candidate });
  });
  beforeEach(() => {
    candidate.status = undefined;
  });
  afterEach(() => page?.close());
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  async function visit(hash: string, to = site): Promise<void> {
    ({ page, complaints } = await openPage(browser, `${to.admin.url}/${hash}`));
  }

  const textOf = (selector: string) => page.locator(selector).innerText();
  const rows = () =>
    page
      .locator('#candidate-groups tbody tr')
      .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));

  it('has a link only while there is a candidate', async () => {
    await visit('');
    await page.getByText('signing-gateway 1.2.3').waitFor();
    expect(await page.getByRole('link', { name: 'Candidate' }).count()).toBe(0);
    candidate.status = activeCandidate();
    await page.getByRole('link', { name: 'Candidate' }).click();
    await page.getByRole('heading', { level: 1, name: 'Candidate' }).waitFor();
    expect(await page.title()).toContain('Candidate');
    candidate.status = undefined;
    await page.getByText('There is no candidate.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows the counts, the kinds, the reasons and the changes', async () => {
    const status = activeCandidate(comparisonOf([changeGroup(), added], 995, { body: 1 }));
    candidate.status = { ...status, sample: 0.5, skipped: { queue: 0, 'earlier-plan': 0, sample: 1_000 } };
    await visit('#/candidate');
    await page.locator('#candidate-groups tbody tr').nth(1).waitFor();
    expect(await rows()).toEqual([
      [
        'newly-refused',
        'contacts',
        'forwarded to up',
        'refused 403 role_not_allowed',
        '3',
        '2',
        expect.stringMatching(/^GET \/api\/contacts \d\d:\d\d:\d\d$/),
      ],
      [
        'newly-allowed',
        '– → added',
        'refused 404 route_unknown',
        'forwarded to up',
        '1',
        '2',
        expect.stringMatching(/^GET \/added /),
      ],
    ]);
    expect(await textOf('#candidate-counts')).toMatch(
      /Requests\s+1,000\s+Same\s+995 \(99\.50 %\)\s+Changed\s+4 \(0\.40 %\)\s+Unknown\s+1 \(0\.10 %\)\s+Not compared\s+1,000\s+Errors\s+0/,
    );
    expect(await textOf('#candidate-kinds tbody')).toMatch(/newly-refused\s+3\s+newly-allowed\s+1/);
    expect(await textOf('#candidate-unknown tbody')).toMatch(/body\s+1/);
    expect(await textOf('#candidate-facts')).toMatch(/Sample\s+50\.0 %/);
    const links = page.locator('#candidate-groups a');
    const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(addresses).toEqual([
      '#/routes/contacts',
      '#/explain?method=GET&url=%2Fapi%2Fcontacts',
      '#/explain?method=GET&url=%2Fadded',
    ]);
  });

  it('updates the numbers of a row and adds rows, and keeps the focus', async () => {
    candidate.status = activeCandidate(comparisonOf([changeGroup()]));
    await visit('#/candidate');
    await page.getByRole('link', { name: 'GET /api/contacts' }).focus();
    candidate.status = activeCandidate(comparisonOf([changeGroup({ requests: 4_000 })]));
    await eventually('the new number', async () => (await rows())[0]?.[4] === '4,000');
    candidate.status = activeCandidate(comparisonOf([{ ...added, requests: 5_000 }, changeGroup({ requests: 4_001 })]));
    await eventually('the new row', async () => (await rows()).length === 2);
    expect((await rows()).map((cells) => cells[4])).toEqual(['5,000', '4,001']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('GET /api/contacts');
    candidate.status = activeCandidate(comparisonOf([]));
    await eventually('no changes', async () => (await rows())[0]?.[0] === 'None.');
  });

  it('shows text of requests and manifests as text', async () => {
    const to = { ...REFUSED, route: HOSTILE, reason: HOSTILE } as const;
    candidate.status = activeCandidate(comparisonOf([changeGroup({ to, witnesses: witnessOf(`/${HOSTILE}`) })]));
    await visit('#/candidate');
    await page.locator('#candidate-groups tbody tr a').nth(1).waitFor();
    expect((await rows())[0]?.join(' ').split(HOSTILE).length).toBe(4);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toContain('Candidate');
  });

  it('limits the rows, and shows a request without a method and a path', async () => {
    const groups = Array.from({ length: 150 }, (_, index) => changeGroup({ to: { ...REFUSED, route: `r${index}` } }));
    const unreadable = [{ id: 'i', at: 0, method: null, path: null, keyed: false }];
    candidate.status = activeCandidate(comparisonOf([changeGroup({ witnesses: unreadable }), ...groups]));
    await visit('#/candidate');
    await page.getByText('The first 100 of 151.').waitFor();
    expect((await rows()).length).toBe(100);
    expect((await rows())[0]?.[6]).toMatch(/^– – /);
  });

  it('shows the problems of a rejected file', async () => {
    const range = { line: 6, column: 3, endLine: 6, endColumn: 9 };
    const problem = { file: 'next.yaml', range, severity: 'error', rule: 'schema', message: HOSTILE } as const;
    const candidateFile = rejectedFile([problem], MANIFEST);
    const other = await startGatewayWithAdmin(MANIFEST, {}, {}, { candidate, candidateFile });
    await visit('#/candidate', other);
    await page.getByText('next.yaml:6:3').waitFor();
    expect(await textOf('#candidate-problems')).toContain(HOSTILE);
    expect(await textOf('#candidate-facts')).toMatch(/State\s+not compared\s+Source\s+the file next\.yaml/);
    expect(await textOf('#candidate-facts')).toContain('has 1 problem and is not compared');
    candidate.status = activeCandidate(undefined, { source: 'file' });
    await eventually('an earlier version', async () =>
      (await textOf('#candidate-facts')).includes('compared with the active'),
    );
    await other.close();
  });

  describe.each(COLOR_SCHEMES)('in the %s colour scheme', (colorScheme) => {
    it.each(WIDTHS)('is accessible and fits into %i pixels', async (width) => {
      const path = `/${'segment/'.repeat(40)}`;
      candidate.status = activeCandidate(
        comparisonOf([changeGroup({ witnesses: witnessOf(path) }), added, changeGroup({ kind: 'other-status' })], 9, {
          body: 1,
        }),
      );
      const viewport = { width, height: 900 };
      ({ page } = await openPage(browser, `${site.admin.url}/#/candidate`, { colorScheme, viewport }));
      await page.locator('#candidate-groups tbody tr').nth(2).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });
  });
});
