import { dirname, resolve } from 'node:path';
import { parseText } from '../engine/manifest/document.ts';
import { isMap } from '../engine/schema/schema-walk.ts';
import type { TextFile } from './text-file.ts';

/** `part`: an included file, or a file with invariants. It has no meaning without its manifest. */
export type FileRole = 'manifest' | 'part' | 'test-file';

export interface FileLinks {
  /** `undefined` for a file that is none of the gateway's. */
  readonly role: FileRole | undefined;
  /** The absolute path of the manifest that a test file names. */
  readonly manifest: string | undefined;
  /** The patterns of the files that a manifest includes. */
  readonly include: readonly string[];
  /** The absolute path of the file with the invariants of a manifest. */
  readonly invariants: string | undefined;
}

const MODELINE = /^# yaml-language-server: \$schema=(?:\S*\/)?gateway(-test)?\.schema\.json\s*$/m;
const MANIFEST_NAME = /(?:^|\/)gateway\.ya?ml$/;
/** The version tells a manifest from the files of Docker Compose and other tools, which have some of the same keys. */
const VERSION = /^(?:\{\s*)?["']?version["']?[ \t]*:[ \t]*1[ \t]*(?:,.*|[ \t]#.*)?\r?$/m;
const CONTENT = /^[ \t]*[^\s#]/m;
/** The keys of a manifest that hardly any other file with its name has. */
const MANIFEST_KEYS = 'routes upstreams include schemas rateLimits invariants listen auth stores'.split(' ');
const DEFAULT_MANIFEST = 'gateway.yaml';

/** Returns the role of a file. It reads only keys at the start of a line, so that a file keeps its role while somebody types. */
export function roleOf({ path, text }: Pick<TextFile, 'path' | 'text'>): FileRole | undefined {
  const modeline = MODELINE.exec(text);
  if (modeline !== null) return modeline[1] === undefined ? 'manifest' : 'test-file';
  const hasVersion = VERSION.test(text);
  if (hasKey(text, 'cases') && (hasVersion || hasKey(text, 'manifest'))) return 'test-file';
  if (hasManifestName({ path, text })) return 'manifest';
  const hasMembers = ['routes', 'upstreams', 'include'].some((key) => hasKey(text, key));
  if (hasMembers && hasVersion) return 'manifest';
  return hasMembers || ['schemas', 'rateLimits', 'invariants'].some((key) => hasKey(text, key)) ? 'part' : undefined;
}

/** True for a file that its modeline or its name make a manifest, also if another one includes it. */
export function isNamedManifest(file: Pick<TextFile, 'path' | 'text'>): boolean {
  const modeline = MODELINE.exec(file.text);
  return modeline === null ? hasManifestName(file) : modeline[1] === undefined;
}

/** Kubernetes and other tools have files of this name too. */
function hasManifestName({ path, text }: Pick<TextFile, 'path' | 'text'>): boolean {
  if (!MANIFEST_NAME.test(path)) return false;
  return VERSION.test(text) || !CONTENT.test(text) || MANIFEST_KEYS.some((key) => hasKey(text, key));
}

function hasKey(text: string, key: string): boolean {
  return new RegExp(`^(?:\\{\\s*)?["']?${key}["']?\\s*:`, 'm').test(text);
}

const NO_LINKS = { manifest: undefined, include: [], invariants: undefined };

export function readLinks(file: Pick<TextFile, 'path' | 'text'>): FileLinks {
  const { path, text } = file;
  const role = roleOf(file);
  if (role === 'test-file') return { ...NO_LINKS, role, manifest: resolve(dirname(path), manifestOf(text)) };
  if (role !== 'manifest') return { ...NO_LINKS, role };
  const links = blocksOf(text, ['include', 'invariants']);
  return links === '' ? { ...NO_LINKS, role } : { ...linksOf(parseText(links).value, path), role };
}

/** Returns the blocks of some top-level keys: a syntax error in another block, of somebody who types there, does not matter. */
function blocksOf(text: string, keys: readonly string[]): string {
  const blocks = text.split(/^(?=[^\s#\]}-])/m);
  return blocks.filter((block) => keys.some((key) => hasKey(block, key))).join('');
}

function manifestOf(text: string): string {
  const [, , name = DEFAULT_MANIFEST] =
    /^manifest:[ \t]*(["']?)([^\s"'#][^"'#\n]*?)\1[ \t]*(?:#.*)?\r?$/m.exec(text) ?? [];
  return name;
}

function linksOf(value: unknown, path: string): Omit<FileLinks, 'role'> {
  const include = memberOf(value, 'include');
  const patterns: readonly unknown[] = Array.isArray(include) ? include : [include];
  const invariants = memberOf(memberOf(value, 'invariants'), 'file');
  return {
    manifest: undefined,
    include: patterns.filter((pattern) => typeof pattern === 'string'),
    invariants: typeof invariants === 'string' ? resolve(dirname(path), invariants) : undefined,
  };
}

function memberOf(value: unknown, key: string): unknown {
  return isMap(value) ? value[key] : undefined;
}
