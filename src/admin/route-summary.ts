import type { Route } from '../plan/route-definition.ts';

/** The members of a route that `/routes` and `signing-gateway routes --json` list. */
export function routeSummary({ id, methods, path, access, upstream, auth, ...route }: Route) {
  return {
    id,
    methods,
    path,
    access,
    upstream: upstream.id,
    roles: access === 'protected' || route.login !== undefined ? (auth?.role.redactedRoles ?? []) : [],
    login: route.login !== undefined,
    websocket: route.websocket,
    validation: route.validation,
    parameters: route.parameters !== undefined,
    body: route.body && { schema: route.body.validate !== undefined, limit_bytes: route.body.limitBytes },
    timeout_ms: route.timeoutMs ?? null,
  };
}
