import type { Gateway } from '../../src/engine/gateway/gateway.ts';
import type { ReloadTarget } from '../../src/process/reload/reloader.ts';

/** Returns the target of reloads that activate plans in one gateway. */
export function reloadTargetOf(gateway: Gateway): ReloadTarget {
  return {
    get plan() {
      return gateway.plan;
    },
    prepare: ({ plan }) => gateway.prepare(plan),
    activate: async ({ plan }) => gateway.activate(plan),
  };
}
