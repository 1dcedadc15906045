import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { Route } from '../../engine/plan/route-definition.ts';

interface RefusalCondition {
  /** True if the gateway can refuse a request to the route with this code. */
  readonly appliesTo: (route: Route) => boolean;
  /** True if a rule of the route causes the refusal, so that a test case can expect it. */
  readonly isRule?: boolean;
  /** True if the gateway forwards the request when the route has `validation: report`. */
  readonly isReportable?: boolean;
}

const ANY_ROUTE: RefusalCondition = { appliesTo: () => true };
const BEFORE_MATCH: RefusalCondition = { appliesTo: () => false };

/** The limits of a route that refuse requests. */
const limitsOf = ({ rateLimits }: Route) =>
  Object.values(rateLimits ?? {})
    .flat()
    .filter(({ mode }) => mode === 'enforce');

const verifiesTokens = ({ access, login }: Route) => access === 'protected' || login !== undefined;

/**
 * The routes that each refusal applies to. API descriptions and coverage reports list the codes in this order.
 */
const CONDITIONS: Readonly<Record<RefusalCode, RefusalCondition>> = {
  message_malformed: ANY_ROUTE,
  path_ambiguous: ANY_ROUTE,
  request_timeout: ANY_ROUTE,
  expectation_failed: ANY_ROUTE,
  headers_too_large: ANY_ROUTE,
  internal_error: ANY_ROUTE,
  upstream_unreachable: ANY_ROUTE,
  upstream_error: ANY_ROUTE,
  upstream_unavailable: ANY_ROUTE,
  upstream_busy: ANY_ROUTE,
  upstream_timeout: ANY_ROUTE,
  loop_detected: ANY_ROUTE,
  route_unknown: BEFORE_MATCH,
  method_not_allowed: BEFORE_MATCH,
  origin_not_allowed: { appliesTo: ({ websocket }) => websocket, isRule: true },
  token_missing: { appliesTo: ({ access }) => access === 'protected', isRule: true },
  token_invalid: { appliesTo: ({ access }) => access === 'protected' },
  role_not_allowed: { appliesTo: verifiesTokens, isRule: true },
  keys_unavailable: { appliesTo: verifiesTokens },
  login_response_refused: { appliesTo: ({ login }) => login !== undefined },
  rate_limit_key_missing: {
    appliesTo: (route) => limitsOf(route).some(({ missing }) => missing === 'refuse'),
    isRule: true,
  },
  rate_limit_exceeded: { appliesTo: (route) => limitsOf(route).length > 0, isRule: true },
  rate_limit_unavailable: { appliesTo: (route) => limitsOf(route).some(({ store }) => store?.onFailure === 'refuse') },
  parameter_invalid: { appliesTo: ({ parameters }) => parameters !== undefined, isRule: true, isReportable: true },
  body_too_large: { appliesTo: ({ body }) => body !== undefined, isRule: true },
  gateway_busy: {
    appliesTo: ({ body, parameters, login }) => (body?.validate ?? parameters ?? login) !== undefined,
  },
  media_type_unsupported: { appliesTo: ({ body }) => body?.types !== undefined, isRule: true, isReportable: true },
  body_invalid: {
    appliesTo: ({ body }) => (body?.validate ?? body?.streamValidatorFor) !== undefined,
    isRule: true,
    isReportable: true,
  },
};

const CODES = Object.keys(CONDITIONS) as RefusalCode[];

/** Returns every code with which the gateway can refuse a request to a route. */
export function possibleRefusals(route: Route): RefusalCode[] {
  return CODES.filter((code) => {
    const { appliesTo, isReportable = false } = CONDITIONS[code];
    return appliesTo(route) && !(isReportable && route.validation === 'report');
  });
}

/** Returns the codes that the rules of a route can cause, including those that `validation: report` only reports. */
export function ruleRefusals(route: Route): RefusalCode[] {
  return CODES.filter((code) => CONDITIONS[code].isRule && CONDITIONS[code].appliesTo(route));
}

/** Returns the codes with which the gateway can refuse a request by its path or method, before a route matches. */
export function routingRefusals(routes: readonly Route[]): RefusalCode[] {
  const hasAllMethods = ({ methods }: Route) => methods.length === HTTP_METHODS.length;
  const hasCatchAll = routes.some((route) => route.path === '/**' && hasAllMethods(route));
  return [
    'path_ambiguous',
    ...(hasCatchAll ? [] : (['route_unknown'] as const)),
    ...(hasCatchAll || routes.every(hasAllMethods) ? [] : (['method_not_allowed'] as const)),
  ];
}
