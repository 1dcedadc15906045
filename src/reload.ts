import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Gateway } from './gateway/gateway.ts';
import { load } from './load.ts';
import type { Source, World } from './manifest/source.ts';
import { type Changes, changesBetween } from './plan/changes.ts';
import type { Plan } from './plan/plan.ts';
import type { Problem } from './problem/problem.ts';
import { watchFiles } from './watch.ts';

/** Editors write in several steps: what follows within this time belongs to one save. */
const SETTLE_MS = 50;
/** Some mounts tell of no change at all; this finds it. */
const POLL_MS = 5_000;

/** How the last attempt to take over the file ended. */
export type Reload =
  | { readonly kind: 'loaded'; readonly at: Date; readonly hash: string; readonly changes: Changes }
  | { readonly kind: 'kept'; readonly at: Date; readonly source: Source; readonly problems: readonly Problem[] }
  | { readonly kind: 'unreadable'; readonly at: Date; readonly reason: string };

export interface Reloader {
  /** `undefined` until the file changed for the first time. */
  readonly last: Reload | undefined;
  close(): Promise<void>;
}

/**
 * Watches the manifest. A changed text is loaded, and if it loads, one assignment puts it in force; if it does not, the
 * last good plan stays.
 *
 * @param tell hears of every attempt that was made
 */
export function createReloader(path: string, world: World, gateway: Gateway, tell: (reload: Reload) => void): Reloader {
  let seen = textInForce(path, gateway.plan.hash);
  let last: Reload | undefined;
  let timer: NodeJS.Timeout | undefined;

  const attempt = () => {
    const { text, reason } = readText(path);
    if (text === seen) return;
    seen = text;
    const at = new Date();
    if (text === undefined) {
      last = { kind: 'unreadable', at, reason };
    } else {
      const source = { path, text };
      const { plan, problems } = load(source, world, gateway.plan);
      last =
        plan === undefined ? { kind: 'kept', at, source, problems } : { kind: 'loaded', ...swap(gateway, plan), at };
    }
    tell(last);
  };
  const settle = () => {
    clearTimeout(timer);
    timer = setTimeout(attempt, SETTLE_MS);
  };
  const watcher = watchFiles([path], settle);
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
  return text !== undefined && createHash('sha256').update(text).digest('hex') === hash ? text : undefined;
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
