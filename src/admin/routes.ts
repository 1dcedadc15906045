import type { Route } from '../plan/plan.ts';
import { type Answer, type Call, json, type Operated } from './call.ts';

/** The compiled routes, in the manifest's order. */
export function routes(_call: Call, { gateway }: Operated): Answer {
  return json(tableOf(gateway.plan.routes));
}

export type RouteTable = ReturnType<typeof tableOf>;

function tableOf(routes: readonly Route[]) {
  return { routes: routes.map(described) };
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
