import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = PLACES.find((place) => existsSync(place));

/** Debian's package `chromium`: tests that need it are skipped where there is none. */
export const hasBrowser = executablePath !== undefined;

/** A browser without a window. As root it has no sandbox of its own. */
export function startBrowser(): Promise<Browser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ ...(executablePath && { executablePath }), args });
}

export interface Visited {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: string[];
  /** All that was asked for, by address. */
  readonly asked: string[];
}

/** A tab of its own, with nothing kept from another one. */
export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<Visited> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(error.message));
  page.on('request', (request) => void asked.push(request.url()));
  await page.goto(url);
  return { page, complaints, asked };
}
