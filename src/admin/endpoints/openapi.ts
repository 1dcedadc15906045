import { streamOpenApi } from '../../openapi/export/stream-openapi.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';

/** Describes the active routes as OpenAPI 3.1: parameters, bodies, roles and refusals. */
export function openapi(_request: AdminRequest, { activeManifest, version }: AdminContext): AdminResponse {
  return largeJsonResponse(streamOpenApi(activeManifest(), version));
}
