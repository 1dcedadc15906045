import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import type { AdminEndpoint, AdminResponse } from './admin-endpoint.ts';

const FOLDER = new URL('./page/', import.meta.url);

/** The media types of the files of the admin page. They are public and contain no data of the gateway. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
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

/** The endpoints of the admin page: the files with a media type. The first request for a file reads it from disk. */
export const PAGE_ENDPOINTS: readonly AdminEndpoint[] = readdirSync(FOLDER).flatMap((file) => {
  const mediaType = MEDIA_TYPES[extname(file)];
  if (mediaType === undefined) return [];
  let response: Promise<AdminResponse> | undefined;
  return {
    method: 'GET',
    path: file === 'index.html' ? '/' : `/page/${servedName(file)}`,
    isPublic: true,
    respond: () => {
      response ??= readPageFile(file, mediaType);
      return response;
    },
  };
});

/** Returns the name that a file has for browsers. The installed package has scripts without types. */
export function servedName(file: string): string {
  return file.replace(/\.ts$/, '.js');
}

/** Returns a script for browsers: without types, and with the served names of its imports. */
export function toScript(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/(?<='\.\/[\w-]+)\.ts(?=';)/g, '.js');
}

/** Reads a file of the page for another page. */
export function readPageText(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

async function readPageFile(file: string, mediaType: string): Promise<AdminResponse> {
  const headers = {
    'Content-Type': mediaType,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  const content = await readFile(new URL(file, FOLDER));
  return { status: 200, headers, body: file.endsWith('.ts') ? toScript(String(content)) : content };
}
