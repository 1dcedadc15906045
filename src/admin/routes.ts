import type { Route } from '../plan/plan.ts';
import { type Answer, type Call, largeJson, type Operated } from './call.ts';
import { jsonWithList } from './json-pieces.ts';

/** The compiled routes, in the manifest's order. */
export function routes(_call: Call, { gateway }: Operated): Answer {
  return largeJson(jsonWithList({}, 'routes', gateway.plan.routes.values().map(described)));
}

export interface RouteTable {
  readonly routes: readonly ReturnType<typeof described>[];
}

function described({ id, methods, path, access, upstream, auth, ...route }: Route) {
  return {
    id,
    methods,
    path,
    access,
    upstream: upstream.id,
    roles: access === 'protected' || route.login !== undefined ? (auth?.role.shown ?? []) : [],
    login: route.login !== undefined,
    websocket: route.websocket,
    validation: route.validation,
    parameters: route.parameters !== undefined,
    body: route.body && { schema: route.body.judge !== undefined, limit_bytes: route.body.limitBytes },
    timeout_ms: route.timeoutMs ?? null,
  };
}
