import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';
import { streamJsonWithList } from '../json-stream.ts';
import { routeSummary } from '../route-summary.ts';

/** Lists the active routes in the order of the manifest. */
export function routes(_request: AdminRequest, { gateway }: AdminContext): AdminResponse {
  return largeJsonResponse(streamJsonWithList({}, 'routes', gateway.plan.routes.values().map(routeSummary)));
}

export interface RouteTable {
  readonly routes: readonly ReturnType<typeof routeSummary>[];
}
