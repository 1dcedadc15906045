import { SIZES } from '../../engine/manifest/units.ts';
import type { Operation } from './imported-route.ts';
import type { ReportLoss } from './openapi-document.ts';

/** The settings that `GET /openapi.json` describes only in part, in members of its own. */
const NOT_READ: Readonly<Record<string, readonly ['looser' | 'stricter', string]>> = {
  'x-login': ['looser', 'the roles of the token in the response are not checked; write login'],
  'x-headers': ['looser', 'these headers are not validated; write them in headers'],
  'x-websocket': ['stricter', 'WebSocket handshakes are not accepted; write websocket'],
};

/** Returns `roles` of a protected route, as a document of the gateway has them. */
export function ownRoles({ value }: Operation): readonly string[] | undefined {
  const roles = value['x-roles'];
  const isList = Array.isArray(roles) && roles.length > 0;
  return isList && roles.every((role) => typeof role === 'string' && role !== '') ? roles : undefined;
}

/** Returns `validation` of a route. */
export function ownValidation({ value }: Operation): object {
  return value['x-validation'] === 'report' ? { validation: 'report' } : {};
}

/** Returns `maxBytes` of a body. */
export function ownLimit(body: Readonly<Record<string, unknown>>): object {
  const bytes = body['x-limit-bytes'];
  if (!Number.isSafeInteger(bytes)) return {};
  const [unit, size] = Object.entries(SIZES).findLast(([, one]) => Number(bytes) % one === 0) ?? ['B', 1];
  return { maxBytes: `${Number(bytes) / size}${unit}` };
}

export function reportOwnMembers({ value, origin }: Operation, report: ReportLoss): void {
  for (const [name, [effect, message]] of Object.entries(NOT_READ))
    if (value[name] !== undefined) report([...origin, name], effect, message);
}
