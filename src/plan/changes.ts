import type { Plan, Route } from './plan.ts';

/** What differs between two plans, by the ids of routes and upstreams. */
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Present in both, and written otherwise. */
  readonly changed: readonly string[];
  /** Of those added or changed: reached without a token now. */
  readonly nowPublic: readonly string[];
  /** Upstreams that are new or written otherwise. */
  readonly upstreams: readonly string[];
  /** Keys of `server` that are written otherwise, or whose files hold something else. */
  readonly server: readonly string[];
  /** Keys of the manifest that take a restart: what they were at the start stays in force. */
  readonly needsRestart: readonly string[];
}

export function changesBetween(old: Plan, next: Plan): Changes {
  const before = new Map(old.routes.map((route) => [route.id, route]));
  const after = new Set(next.routes.map(({ id }) => id));
  const upstreams = new Set(old.upstreams.map(({ key }) => key));
  const isChanged = ({ id, key }: Route) => before.has(id) && before.get(id)?.key !== key;
  const isNowPublic = ({ id, access }: Route) => access === 'public' && before.get(id)?.access !== 'public';
  const isMoved = (key: 'listen' | 'admin') => JSON.stringify(old[key]) !== JSON.stringify(next[key]);
  const serverKeys = Object.keys(next.server.keys) as (keyof Plan['server']['keys'])[];
  const isRekeyed = (old.server.tls === undefined) !== (next.server.tls === undefined);
  return {
    added: idsOf(next.routes.filter(({ id }) => !before.has(id))),
    removed: idsOf(old.routes.filter(({ id }) => !after.has(id))),
    changed: idsOf(next.routes.filter(isChanged)),
    nowPublic: idsOf(next.routes.filter(isNowPublic)),
    upstreams: idsOf(next.upstreams.filter(({ key }) => !upstreams.has(key))),
    server: serverKeys.filter((key) => old.server.keys[key] !== next.server.keys[key]),
    needsRestart: [...(['listen', 'admin'] as const).filter(isMoved), ...(isRekeyed ? ['server.tls'] : [])],
  };
}

function idsOf(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}
