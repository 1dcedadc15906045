import { readFile } from 'node:fs/promises';
import type { AdminEndpoint, AdminResponse } from './admin-endpoint.ts';

/** The files of the admin page. They are public and contain no data of the gateway. */
const FILES = [
  'index.html',
  'page.css',
  'icon.svg',
  'page.js',
  'api.js',
  'candidate.js',
  'change-rows.js',
  'decision-rows.js',
  'decisions.js',
  'element.js',
  'explain.js',
  'format.js',
  'limits.js',
  'manifest-lines.js',
  'manifest.js',
  'overview.js',
  'plot.js',
  'problems.js',
  'refusals.js',
  'route.js',
  'route-columns.js',
  'routes.js',
  'tiles.js',
  'time-range.js',
  'traffic-plots.js',
  'upstreams.js',
] as const;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The page cannot load from or send to other origins, cannot parse text as markup, and cannot be framed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The endpoints of the admin page. The first request for a file reads it from disk. */
export const PAGE_ENDPOINTS: readonly AdminEndpoint[] = FILES.map((file) => {
  let response: Promise<AdminResponse> | undefined;
  return {
    method: 'GET',
    path: file === 'index.html' ? '/' : `/page/${file}`,
    isPublic: true,
    respond: () => {
      response ??= readPageFile(file);
      return response;
    },
  };
});

async function readPageFile(file: string): Promise<AdminResponse> {
  const headers = {
    'Content-Type': MEDIA_TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  return { status: 200, headers, body: await readFile(new URL(`./page/${file}`, import.meta.url)) };
}
