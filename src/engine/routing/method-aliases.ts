import type { Route } from '../plan/route-definition.ts';

/**
 * Groups the methods of which each route has all or none, such as GET and HEAD: one of a group stands for all.
 *
 * @returns for each method of a route, the one that stands for it
 */
export function methodAliases(routes: readonly Route[]): Map<string, string> {
  const lists = [...new Map(routes.map(({ methods }) => [methods.join(), methods])).values()];
  const methodByUse = new Map<string, string>();
  const aliases = new Map<string, string>();
  for (const method of new Set(lists.flat())) {
    const use = lists.map((methods) => Number(methods.includes(method))).join('');
    aliases.set(method, methodByUse.get(use) ?? method);
    if (!methodByUse.has(use)) methodByUse.set(use, method);
  }
  return aliases;
}
