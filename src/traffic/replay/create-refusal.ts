import { Refusal, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { Route } from '../../engine/plan/route-definition.ts';

/** Returns a refusal with the detail that a route gives to it. */
export function createRefusal(
  code: RefusalCode,
  route: Route | undefined,
  { reason, limit }: { readonly reason?: string | undefined; readonly limit?: string | undefined } = {},
): Refusal {
  const detail =
    code === 'role_not_allowed'
      ? route?.auth?.role.message
      : code === 'media_type_unsupported'
        ? route?.body?.types?.refusalDetail
        : undefined;
  return new Refusal(code, {
    ...(detail !== undefined && { detail }),
    ...(reason !== undefined && { reason }),
    ...(limit !== undefined && { limit }),
  });
}
