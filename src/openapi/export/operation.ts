import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { ruleOf } from '../../engine/tokens/verifier.ts';
import type { PathTemplate } from './path-templates.ts';
import type { OpenApiComponents, ResponseComponents } from './shared-components.ts';

/** One method of one path of the document. */
interface OperationPlace {
  readonly id: string;
  readonly method: string;
  readonly template: PathTemplate;
  /** True if the last parameter of the path stands for several segments. */
  readonly hasRest: boolean;
}

export interface DescribedOperation extends Readonly<Record<string, unknown>> {
  readonly parameters?: readonly object[];
}

/** Describes a route at one method of one path as an OpenAPI operation. */
export function describeOperation(described: DescribedRoute, place: OperationPlace): DescribedOperation {
  const { route, entry } = described;
  const { id, auth, websocket, login, validation } = route;
  const ignored = headerParameters(described).filter(isIgnoredHeader);
  const parameters = [
    ...pathParameters(described, place),
    ...queryParameters(described),
    ...headerParameters(described).filter((header) => !isIgnoredHeader(header)),
  ];
  return {
    operationId: place.id,
    ...(route.upstream !== undefined && { tags: [route.upstream.id] }),
    summary: readableName(id),
    description: describeAccess(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...describeBody(described, place.method),
    responses: described.responses.responsesOf(route),
    ...securityOf(described),
    'x-route': id,
    ...(entry.roles === undefined ? {} : { 'x-roles': auth?.role.redactedRoles }),
    ...(login === undefined ? {} : { 'x-login': true }),
    ...(websocket ? { 'x-websocket': true } : {}),
    ...(validation === 'report' ? { 'x-validation': 'report' } : {}),
    ...(entry.query?.unknown === 'refuse' ? { 'x-unknown-query': 'refuse' } : {}),
    ...(entry.query?.repeated === 'allow' ? { 'x-repeated-query': 'allow' } : {}),
    ...(ignored.length > 0 ? { 'x-headers': ignored } : {}),
  };
}

/** `contacts-import-status` becomes `Contacts import status`. */
function readableName(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1).replaceAll('-', ' ');
}

/** Returns the alternatives of a route that names its issuers; the document has those of the other protected routes. */
function securityOf({ route: { access, auth }, entry: { issuers } }: DescribedRoute) {
  if (access === 'public') return { security: [] };
  const isNamed = issuers !== undefined && auth?.issuers !== undefined;
  return isNamed && { security: [...auth.issuers].map((name = '') => ({ [name]: [] })) };
}

function describeAccess({ access, auth, login }: Route): string {
  const roles = auth?.role.redactedRoles.join(', ');
  if (access === 'protected' && auth?.issuers !== undefined) {
    const ofIssuer = (issuer: string | undefined) =>
      `Roles of ${issuer}: ${ruleOf(auth.role, issuer)?.redactedRoles.join(', ')}.`;
    return [...auth.issuers].map(ofIssuer).join(' ');
  }
  if (access === 'protected') return `Roles: ${roles}.`;
  return login === undefined ? 'Public.' : `Public. Roles of the token in the response: ${roles}.`;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: unknown;
}

const STRING_SCHEMA = { type: 'string' };

function pathParameters({ route, entry, index, components }: DescribedRoute, { template, hasRest }: OperationPlace) {
  return template.segments.flatMap((segment, at) => {
    if (segment.kind === 'literal') return [];
    const ownSegment = route.pattern[at];
    const ownName = ownSegment?.kind === 'parameter' ? ownSegment.name : undefined;
    const hasSchema = ownName !== undefined && Object.hasOwn(entry.params?.properties ?? {}, ownName);
    const path = ['routes', index, 'params', 'properties', ownName ?? ''];
    const schema = hasSchema ? components.schemaAt(path) : STRING_SCHEMA;
    const parameter: Parameter = { name: segment.name, in: 'path', required: true, schema };
    const isRest = hasRest && at === template.segments.length - 1;
    return isRest ? [{ ...parameter, description: REST_DESCRIPTION, 'x-rest': true }] : [parameter];
  });
}

const REST_DESCRIPTION = 'The rest of the path: one or more segments.';

function queryParameters({ entry: { query }, index, components }: DescribedRoute): Parameter[] {
  return Object.keys(query?.properties ?? {}).map((name) => {
    const value = components.schemaAt(['routes', index, 'query', 'properties', name]);
    // By default every parameter may occur more than once, but only a list says that it is meant to.
    const isList = Array.isArray(query?.repeated) && query.repeated.includes(name);
    const schema = isList ? { type: 'array', items: value } : value;
    return { name, in: 'query', required: query?.required?.includes(name) ?? false, schema };
  });
}

function headerParameters({ entry: { headers }, index, components }: DescribedRoute): Parameter[] {
  return Object.keys(headers?.properties ?? {}).map((name) => ({
    name,
    in: 'header',
    required: headers?.required?.includes(name) ?? false,
    schema: components.schemaAt(['routes', index, 'headers', 'properties', name]),
  }));
}

/** OpenAPI 3.1 section 4.8.12.2 ignores parameters with these names: other parts of an operation describe them. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

export function isIgnoredHeader({ name }: { readonly name: string }): boolean {
  return IGNORED_HEADERS.has(name.toLowerCase());
}

/** A route of the manifest with what describes it. */
export interface DescribedRoute {
  readonly route: Route;
  readonly entry: RouteEntry;
  /** The body rule of the entry, redacted. */
  readonly body: RouteEntry['body'];
  /** Its index in `routes`. */
  readonly index: number;
  readonly components: OpenApiComponents;
  readonly responses: ResponseComponents;
}

/** Describes the body that a route accepts; empty if it has no body rule, or the method has no body. */
function describeBody(described: DescribedRoute, method: string): object {
  const { body, route } = described;
  if (route.body === undefined || body === undefined || BODYLESS_METHODS.has(method)) return {};
  const { validate, streamValidatorFor, limitBytes } = route.body;
  // A route that validates a format never accepts an empty body.
  const required = validate !== undefined || streamValidatorFor !== undefined;
  const content = Object.fromEntries(typesOf(body).map((type) => [type, mediaTypeOf(type, described, body)]));
  return { requestBody: { required, content, 'x-limit-bytes': limitBytes } };
}

type Body = NonNullable<RouteEntry['body']>;

const FORM_TYPE = 'multipart/form-data';
const CSV_TYPE = 'text/csv';

/** Returns the media types that the route accepts. Types that differ only in letter case are one type. */
function typesOf({ types, schema, multipart, csv }: Body): readonly string[] {
  if (types !== undefined) return [...new Map(types.toReversed().map((type) => [type.toLowerCase(), type])).values()];
  if (schema !== undefined) return ['application/json'];
  const formats = [...(multipart === undefined ? [] : [FORM_TYPE]), ...(csv === undefined ? [] : [CSV_TYPE])];
  return formats.length > 0 ? formats : ['*/*'];
}

function mediaTypeOf(type: string, { index, components }: DescribedRoute, { schema, multipart }: Body): object {
  if (schema !== undefined) return { schema: components.schemaAt(['routes', index, 'body', 'schema']) };
  return type.toLowerCase() === FORM_TYPE && multipart !== undefined ? formMediaType(multipart) : {};
}

/** Describes the parts of a form. A part without types accepts any. */
function formMediaType({ parts }: NonNullable<Body['multipart']>): object {
  const entries = Object.entries(parts);
  const properties = entries.map(([name, { maxCount }]) => [
    name,
    maxCount === 1 ? {} : { type: 'array', items: {}, maxItems: maxCount },
  ]);
  const typed = entries.filter(([, { types }]) => types !== undefined);
  return {
    schema: {
      type: 'object',
      required: entries.filter(([, { required }]) => required).map(([name]) => name),
      properties: Object.fromEntries(properties),
      additionalProperties: false,
    },
    ...(typed.length > 0 && {
      encoding: Object.fromEntries(typed.map(([name, { types = [] }]) => [name, { contentType: types.join(', ') }])),
    }),
  };
}
