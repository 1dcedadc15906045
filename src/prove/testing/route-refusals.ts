import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { StepName } from '../explain/steps.ts';

interface RefusalCondition {
  /** The step at which the gateway refuses the request. `role_not_allowed` can also happen at the response of a login. */
  readonly step: StepName;
  /** True if the gateway can refuse a request to the route with this code. */
  readonly appliesTo: (route: Route) => boolean;
  /** True if a rule of the route causes the refusal, so that a test case can expect it. */
  readonly isRule?: boolean;
  /** True if the gateway forwards the request when the route has `validation: report`. */
  readonly isReportable?: boolean;
}

const always = () => true;
const forwards = ({ upstream }: Route) => upstream !== undefined;
/** The gateway refuses the request before a route matches. */
const never = () => false;
const isProtected = ({ access }: Route) => access === 'protected';
const REPORTABLE_RULE = { isRule: true, isReportable: true };

/** The limits of a route that refuse requests. */
const limitsOf = ({ rateLimits }: Route) =>
  Object.values(rateLimits ?? {})
    .flat()
    .filter(({ mode }) => mode === 'enforce');

const verifiesTokens = ({ access, login }: Route) => access === 'protected' || login !== undefined;

/** The routes that each refusal applies to. API descriptions and coverage reports list the codes in this order. */
const CONDITIONS: Readonly<Record<RefusalCode, RefusalCondition>> = {
  message_malformed: { step: 'message', appliesTo: always },
  path_ambiguous: { step: 'path', appliesTo: always },
  request_timeout: { step: 'message', appliesTo: always },
  expectation_failed: { step: 'message', appliesTo: always },
  headers_too_large: { step: 'message', appliesTo: always },
  internal_error: { step: 'forward', appliesTo: always },
  upstream_unreachable: { step: 'forward', appliesTo: forwards },
  upstream_error: { step: 'forward', appliesTo: forwards },
  upstream_unavailable: { step: 'forward', appliesTo: forwards },
  upstream_busy: { step: 'forward', appliesTo: forwards },
  upstream_timeout: { step: 'forward', appliesTo: forwards },
  loop_detected: { step: 'message', appliesTo: always },
  websocket_version_unsupported: { step: 'message', appliesTo: ({ websocket }) => websocket },
  route_unknown: { step: 'route', appliesTo: never },
  method_not_allowed: { step: 'route', appliesTo: never },
  origin_not_allowed: { step: 'origin', appliesTo: ({ websocket }) => websocket, isRule: true },
  token_missing: { step: 'token', appliesTo: isProtected, isRule: true },
  token_invalid: { step: 'token', appliesTo: isProtected },
  role_not_allowed: { step: 'role', appliesTo: ({ auth }) => auth?.role.isAny === false, isRule: true },
  claim_unusable: { step: 'claims', appliesTo: ({ claims }) => (claims?.headers.length ?? 0) > 0 },
  keys_unavailable: { step: 'token', appliesTo: verifiesTokens },
  login_response_refused: { step: 'response', appliesTo: ({ login }) => login !== undefined },
  rate_limit_key_missing: {
    step: 'limits',
    appliesTo: (route) => limitsOf(route).some(({ missing }) => missing === 'refuse'),
    isRule: true,
  },
  rate_limit_exceeded: { step: 'limits', appliesTo: (route) => limitsOf(route).length > 0, isRule: true },
  rate_limit_unavailable: {
    step: 'limits',
    appliesTo: (route) => limitsOf(route).some(({ store }) => store?.onFailure === 'refuse'),
  },
  parameter_invalid: {
    step: 'parameters',
    appliesTo: ({ parameters }) => parameters !== undefined,
    ...REPORTABLE_RULE,
  },
  body_too_large: { step: 'body', appliesTo: ({ body }) => body !== undefined, isRule: true },
  gateway_busy: {
    step: 'body',
    appliesTo: ({ body, parameters, login }) => (body?.validate ?? parameters ?? login) !== undefined,
  },
  media_type_unsupported: { step: 'body', appliesTo: ({ body }) => body?.types !== undefined, ...REPORTABLE_RULE },
  body_invalid: {
    step: 'body',
    appliesTo: ({ body }) => (body?.validate ?? body?.streamValidatorFor) !== undefined,
    ...REPORTABLE_RULE,
  },
};

const CODES = Object.keys(CONDITIONS) as RefusalCode[];

export function stepOfRefusal(code: RefusalCode): StepName {
  return CONDITIONS[code].step;
}

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
