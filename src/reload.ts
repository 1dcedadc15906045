import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Gateway } from './gateway/gateway.ts';
import { load } from './load.ts';
import { changedOutside, type Files, sha256 } from './manifest/files.ts';
import type { Source, World } from './manifest/source.ts';
import { type Changes, changesBetween } from './plan/changes.ts';
import type { Plan } from './plan/plan.ts';
import type { Problem } from './problem/problem.ts';
import { watchFiles } from './watch.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
const SETTLE_MS = 50;
/** Some mounts tell of no change at all; this finds it. */
const POLL_MS = 5_000;

/** How the last attempt to take over the files ended. */
export type Reload =
  | { readonly kind: 'loaded'; readonly at: Date; readonly hash: string; readonly changes: Changes }
  | { readonly kind: 'kept'; readonly at: Date; readonly source: Source; readonly problems: readonly Problem[] }
  | { readonly kind: 'unreadable'; readonly at: Date; readonly reason: string };

export interface Reloader {
  /** `undefined` until a file changed for the first time. */
  readonly last: Reload | undefined;
  close(): Promise<void>;
}

/**
 * Watches the manifest and every file that it names. When one of them changed, the manifest is loaded, and if it
 * loads, one assignment puts it in force; if it does not, the last good plan stays.
 *
 * @param first the files that the plan in force was made of
 * @param tell hears of every attempt that was made
 */
export function createReloader(
  path: string,
  world: World,
  gateway: Gateway,
  first: Files,
  tell: (reload: Reload) => void,
): Reloader {
  let seen = textInForce(path, gateway.plan.hash);
  let files = first;
  let last: Reload | undefined;
  let timer: NodeJS.Timeout | undefined;

  const attempt = () => {
    const { text, reason } = readText(path);
    if (text === seen && (text === undefined || changedOutside({ files, patterns: new Map() }, world).length === 0))
      return;
    seen = text;
    const at = new Date();
    if (text === undefined) {
      last = { kind: 'unreadable', at, reason };
    } else {
      const source = { path, text };
      const loaded = load(source, world, gateway.plan);
      const { plan, problems } = loaded;
      files = loaded.files;
      follow();
      last =
        plan === undefined ? { kind: 'kept', at, source, problems } : { kind: 'loaded', ...swap(gateway, plan), at };
    }
    tell(last);
  };
  const settle = () => {
    clearTimeout(timer);
    timer = setTimeout(attempt, SETTLE_MS);
  };
  let paths = pathsOf(path, files);
  let watcher = watchFiles(paths, settle);
  const follow = () => {
    const next = pathsOf(path, files);
    if (next.join('\0') === paths.join('\0')) return;
    paths = next;
    void watcher.close();
    watcher = watchFiles(paths, settle);
  };
  const poll = setInterval(attempt, POLL_MS);
  return {
    get last() {
      return last;
    },
    async close() {
      clearTimeout(timer);
      clearInterval(poll);
      await watcher.close();
    },
  };
}

/** The file's text if the plan was made of it; what was saved since is news. */
function textInForce(path: string, hash: string): string | undefined {
  const { text } = readText(path);
  return text !== undefined && sha256(text) === hash ? text : undefined;
}

function swap(gateway: Gateway, plan: Plan): { hash: string; changes: Changes } {
  const changes = changesBetween(gateway.plan, plan);
  gateway.swap(plan);
  return { hash: plan.hash, changes };
}

function readText(path: string): { text: string | undefined; reason: string } {
  try {
    return { text: readFileSync(path, 'utf8'), reason: '' };
  } catch (error) {
    return { text: undefined, reason: error instanceof Error ? error.message : String(error) };
  }
}

function pathsOf(manifest: string, files: Files): string[] {
  const folder = dirname(resolve(manifest));
  return [resolve(manifest), ...[...files.keys()].map((path) => resolve(folder, path))];
}
