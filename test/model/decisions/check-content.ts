import type { RefusalCode } from '../../../src/engine/gateway/response/refusal.ts';
import { foldHeaderName } from '../../../src/engine/header-names.ts';
import { BODYLESS_METHODS } from '../../../src/engine/http1/http-methods.ts';
import type { RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import { sizeBytes } from '../../../src/engine/manifest/units.ts';
import { readName } from '../../../src/engine/text-folding.ts';
import { isJsonType, parseMediaType } from '../../../src/engine/validation/media-type.ts';
import { decode, headerOf, type ModelRequest, refuse } from './model-request.ts';

// ## Parameters and bodies
//
// These checks follow those of the caller. With `validation: report` a violation is only logged, except that of `maxBytes`.

/** True for valid parameters. */
export function areValidParameters(route: RouteEntry, path: string, query: string, request: ModelRequest): boolean {
  // A parameter that is not valid for its schema, is missing, or is not allowed gets 400 `parameter_invalid`. `params` are the named segments of the path, decoded.
  const segments = path.split('/');
  const valueAt = (name: string) => decode(segments[route.path.split('/').indexOf(`{${name}}`)] ?? '') ?? '';
  const params = Object.entries(route.params?.properties ?? {});
  if (!params.every(([name, schema]) => request.isValidParameter(schema, valueAt(name)))) return false;
  // `headers` are all lines of a header, also in spellings such as `x_tenant` for `X-Tenant`. A header that `Connection` names is not valid.
  const named = (headerOf(request, 'connection') ?? '').split(',').map((name) => foldHeaderName(name.trim()));
  const headers = Object.entries(route.headers?.properties ?? {}).map(([name, schema]) => {
    const lines = request.headers.filter(([other]) => foldHeaderName(other) === foldHeaderName(name));
    const isMissing = lines.length === 0 && route.headers?.required.includes(name);
    const areValid = lines.every(([, value]) => request.isValidParameter(schema, value));
    return areValid && !isMissing && !named.includes(foldHeaderName(name));
  });
  return !headers.includes(false) && (route.query === undefined || isValidQuery(route.query, query, request));
}

function isValidQuery(
  rule: NonNullable<RouteEntry['query']>,
  query: string,
  { isValidParameter }: ModelRequest,
): boolean {
  const { properties, required, unknown, repeated } = rule;
  const form = (text: string) => decode(text.replaceAll('+', ' '));
  const readings = (name: string) => readName(name).map((text) => text.replaceAll(/[ .[]/g, ''));
  const seen: string[] = [];
  for (const pair of query.slice(1).split('&').filter(Boolean)) {
    const [encoded = ''] = pair.split('=', 1);
    const [name = encoded, value] = [form(encoded), form(pair.slice(encoded.length + 1))];
    // `query` are all values of a listed name, decoded, with `+` as a blank. Each of them must be valid.
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema !== undefined && (value === undefined || !isValidParameter(schema, value))) return false;
    // A name that is not listed is refused with `unknown: refuse`, and always if some server reads it as a listed one: in another letter case, or with `_`, `-` or blanks.
    const names = schema !== undefined || unknown === 'refuse' ? [name] : readings(name);
    const isTwin = Object.keys(properties).some((other) => names.includes(readings(other)[0] ?? ''));
    if (schema === undefined && (unknown === 'refuse' || isTwin)) return false;
    // A name that occurs twice is refused with `repeated: refuse`, and with a list in `repeated` that lacks it.
    const mayRepeat = repeated === 'allow' || (repeated !== 'refuse' && repeated.includes(name));
    if (!mayRepeat && names.some((each) => seen.includes(each))) return false;
    seen.push(...names);
  }
  // Every name in `required` occurs. With `unknown: refuse` a query has no `;`, which some servers read as `&`.
  return required.every((name) => seen.includes(name)) && !(unknown === 'refuse' && query.includes(';'));
}

/** Checks the body. @param report receives the violations that `validation` decides about */
export function checkBody(
  { body: rule }: RouteEntry,
  request: ModelRequest,
  report: (code: RefusalCode) => void,
): void {
  const { body, method } = request;
  // A route without `body` accepts every body. GET and HEAD requests need none.
  if (rule === undefined || (body === undefined && BODYLESS_METHODS.has(method))) return;
  // A body of another type than `types` gets 415 `media_type_unsupported`, and so does one with a content encoding.
  const isAccepted = hasAcceptedType(rule, request);
  if (!isAccepted) report('media_type_unsupported');
  // A body of more than `maxBytes` gets 413 `body_too_large`, also with `validation: report`.
  if (body !== undefined && body > sizeBytes(rule.maxBytes)) refuse('body_too_large');
  // A body that does not meet `schema`, `multipart` or `csv` gets 400 `body_invalid`.
  if (isAccepted && !request.isValidBody(rule)) report('body_invalid');
}

function hasAcceptedType(rule: NonNullable<RouteEntry['body']>, request: ModelRequest): boolean {
  // Without `types`, a route accepts JSON for `schema`, a form for `multipart`, CSV for `csv`, and otherwise every type.
  const { schema, multipart, csv } = rule;
  const defaults = schema !== undefined ? ['application/*'] : [multipart && 'multipart/form-data', csv && 'text/csv'];
  const needed = defaults.filter((type) => type !== undefined);
  const listed = rule.types ?? needed;
  if (listed.length === 0) return true;
  // A request without a body needs no type, unless a rule expects content.
  const written = headerOf(request, 'content-type');
  if (written === undefined) return request.body === undefined && needed.length === 0;
  const name = parseMediaType(written)?.name ?? '';
  const isListed = listed.some((type) => [name, name.replace(/\/.*/, '/*')].includes(type.toLowerCase()));
  const isEncoded = request.headers.some(([header]) => foldHeaderName(header) === 'content-encoding');
  return isListed && !isEncoded && (schema === undefined || isJsonType(written));
}
