import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { possibleRefusals } from '../../prove/testing/route-refusals.ts';

export type ResponseComponents = ReturnType<typeof createResponseComponents>;

const UPSTREAM_RESPONSE = 'Upstream';

/** Returns the responses of a plan for an OpenAPI document. Routes with the same refusals share components. */
export function createResponseComponents() {
  const responses = new Map<string, object>([
    [UPSTREAM_RESPONSE, { description: 'The response of the upstream. The gateway does not change it.' }],
  ]);
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const referenceTo = (range: string, codes: readonly RefusalCode[]): object => {
    const name = getOrCreate(names, codes.join(), () => {
      const number = (counts.get(range) ?? 0) + 1;
      counts.set(range, number);
      return `Refusals${range}${number === 1 ? '' : `-${number}`}`;
    });
    getOrCreate(responses, name, () => describeRefusals(codes));
    return { $ref: `#/components/responses/${name}` };
  };
  return {
    /** Returns the responses to requests of a route: that of the upstream or of the gateway itself, and the refusals of the gateway. */
    responsesOf: (route: Route): object => {
      const byRange = Map.groupBy(possibleRefusals(route), rangeOf);
      const refusals = [...byRange].sort().map(([range, codes]) => [range, referenceTo(range, codes)] as const);
      const own = route.ownResponse && [String(route.ownResponse.status), describeOwnResponse(route.ownResponse)];
      const response = own ?? ['2XX', { $ref: `#/components/responses/${UPSTREAM_RESPONSE}` }];
      return Object.fromEntries([response, ...refusals]);
    },
    /** The components, by name. */
    responses,
  };
}

function describeOwnResponse({ headers, body, locationOf }: NonNullable<Route['ownResponse']>): object {
  const contentType = headers.find(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type',
  );
  return {
    description: locationOf === undefined ? 'The response of the gateway itself.' : 'A redirect of the gateway itself.',
    ...(locationOf && { headers: { Location: { required: true, schema: STRING_SCHEMA } } }),
    ...(body.length > 0 && contentType !== undefined && { content: { [contentType]: {} } }),
  };
}

/** Returns the range of a refusal's status, as OpenAPI writes it: `4XX`. */
function rangeOf(code: RefusalCode): string {
  return `${Math.floor(REFUSALS[code].status / 100)}XX`;
}

function describeRefusals(codes: readonly RefusalCode[]): object {
  const sorted = codes.toSorted((a, b) => REFUSALS[a].status - REFUSALS[b].status);
  const lines = sorted.map((code) => `- ${REFUSALS[code].status} \`${code}\`: ${REFUSALS[code].detail}`);
  return {
    description: `A refusal of the gateway, or a response of the upstream. The refusals:\n\n${lines.join('\n')}`,
    ...(codes.includes('rate_limit_exceeded') ? { headers: { 'Retry-After': RETRY_AFTER } } : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Refusal' } } },
  };
}

/** The header of every refusal by a rate limit (RFC 9110 section 10.2.3). */
const RETRY_AFTER = {
  description: 'With status 429: seconds to wait before another request.',
  schema: { type: 'integer', minimum: 1 },
};

const STRING_SCHEMA = { type: 'string' };

export const REFUSAL_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'message', 'request_id'],
  properties: {
    type: STRING_SCHEMA,
    title: STRING_SCHEMA,
    status: { type: 'integer' },
    detail: STRING_SCHEMA,
    code: { enum: Object.keys(REFUSALS) },
    message: STRING_SCHEMA,
    request_id: STRING_SCHEMA,
    errors: {
      type: 'array',
      items: { type: 'object', properties: { pointer: STRING_SCHEMA, message: STRING_SCHEMA } },
    },
  },
};
