import type { Route } from '../../plan/route-definition.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';
import { streamJsonWithList } from '../json-stream.ts';

/** Lists the active routes in the order of the manifest. */
export function routes(_request: AdminRequest, { gateway }: AdminContext): AdminResponse {
  return largeJsonResponse(streamJsonWithList({}, 'routes', gateway.plan.routes.values().map(routeSummary)));
}

export interface RouteTable {
  readonly routes: readonly ReturnType<typeof routeSummary>[];
}

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
