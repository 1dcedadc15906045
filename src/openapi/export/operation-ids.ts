import type { Route } from '../../engine/plan/route-definition.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { describedMethods, type PathTemplate, type PathTemplates } from './path-templates.ts';

/** Returns the unique `operationId` of a method of a path. */
export type OperationIds = (template: PathTemplate, method: string) => string;

/**
 * Names the operations after the ids of their routes: `contact-new`, and `contacts-get` for a route with several methods. If a
 * name is taken, a number follows. The main path of a route gets the name without a number.
 */
export function* createOperationIds({ templates, mainTemplates }: PathTemplates): SlicedWork<OperationIds> {
  const idByOperation = new Map<PathTemplate, Map<string, string>>();
  const usedIds = new Set<string>();
  // Thousands of operations may have the same name.
  const lastNumbers = new Map<string, number>();
  const ranks = [isNamedAfterRoute, isMain, () => true];
  for (const hasRank of ranks) {
    for (const template of templates) {
      const ids = idByOperation.get(template) ?? new Map<string, string>();
      idByOperation.set(template, ids);
      for (const [method, route] of template.routes) {
        if (ids.has(method) || !hasRank(route, template)) continue;
        const base = hasOneMethod(route) ? route.id : `${route.id}-${method.toLowerCase()}`;
        let number = lastNumbers.get(base) ?? 1;
        let id = number === 1 ? base : `${base}-${number}`;
        while (usedIds.has(id)) {
          number += 1;
          id = `${base}-${number}`;
        }
        usedIds.add(id);
        ids.set(method, id);
        lastNumbers.set(base, number);
      }
      yield;
    }
  }
  return (template, method) => idByOperation.get(template)?.get(method) ?? '';

  function isMain(route: Route, template: PathTemplate): boolean {
    return mainTemplates.get(route) === template;
  }

  function isNamedAfterRoute(route: Route, template: PathTemplate): boolean {
    return hasOneMethod(route) && isMain(route, template);
  }

  function hasOneMethod(route: Route): boolean {
    return describedMethods(route).length === 1;
  }
}
