import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { OpenApiComponents } from './components.ts';
import type { ResponseComponents } from './responses.ts';

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
export function describeBody(described: DescribedRoute, method: string): object {
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
