import type { Plan } from '../../engine/plan/plan.ts';
import { limitDefinition } from '../../engine/rate-limits/rate-limit.ts';
import { routingKey } from '../../engine/routing/router.ts';
import type { RouteRules } from './route-rules.ts';

/** True if two routes refuse the same requests that match them. */
export function isEqualUntilForwarded(rules: RouteRules, other: RouteRules): boolean {
  const textOf = ({ route, origins }: RouteRules) => {
    const { access, auth, rateLimits, validation } = route;
    const limits = Object.values(rateLimits ?? {}).map((stage) => stage.map(limitDefinition));
    return JSON.stringify([
      origins,
      access,
      auth?.verifier.key,
      auth?.role.key,
      auth?.role.message,
      limits,
      validation,
    ]);
  };
  return textOf(rules) === textOf(other) && hasEqualParameters(rules, other) && hasEqualBody(rules, other);
}

/** True if two routes validate parameters alike. */
export function hasEqualParameters(rules: RouteRules, other: RouteRules | undefined): boolean {
  return (['params', 'query', 'headers'] as const).every((kind) => rules[kind].text === other?.[kind].text);
}

/** True if two routes accept the same bodies. */
export function hasEqualBody(rules: RouteRules, other: RouteRules | undefined): boolean {
  return (
    rules.types === other?.types &&
    rules.content === other.content &&
    rules.route.body?.limitBytes === other.route.body?.limitBytes &&
    rules.route.validation === other.route.validation
  );
}

/** True if two plans accept WebSocket handshakes for the same requests. */
export function haveEqualHandshakes(plan: Plan, other: Plan): boolean {
  const textOf = ({ routes }: Plan) =>
    JSON.stringify(routes.map((route) => [routingKey(route), route.websocket]).sort());
  return plan === other || textOf(plan) === textOf(other);
}
