import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { scaledMs } from './slowness.ts';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = PATHS.find((path) => existsSync(path));

/** True if Chromium is installed (Debian's package `chromium`). Tests that need it are skipped otherwise. */
export const hasBrowser = executablePath !== undefined;

/** Starts a headless browser. Chromium's sandbox does not work as root. */
export function startBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ ...(executablePath && { executablePath }), args, timeout: scaledMs(60_000) });
}

export interface VisitedPage {
  readonly page: Page;
  /** Errors of the page and of its console. */
  readonly complaints: string[];
  /** The URLs of all requests. */
  readonly asked: string[];
}

/** Opens a page in a new browser context, without cookies or cache of other pages. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<VisitedPage> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const errors: string[] = [];
  const requestUrls: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  page.on('pageerror', (error) => void errors.push(error.message));
  page.on('request', (request) => void requestUrls.push(request.url()));
  page.setDefaultTimeout(scaledMs(30_000));
  await page.goto(url);
  return { page, complaints: errors, asked: requestUrls };
}
