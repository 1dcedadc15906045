import { readRequestTarget } from '../../../engine/gateway/request/request-head.ts';
import { foldHeaderName } from '../../../engine/header-names.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { typesAt } from '../../../engine/schema/schema-walk.ts';
import { createParameterValidator } from '../../../engine/validation/request-rules.ts';
import { PARAMETER_KINDS, type ParameterKind, parameterTexts } from '../../schema-comparison/parameter-texts.ts';
import type { DiffRequest, MatchedRoutePair } from '../difference.ts';
import { bothReceive } from '../matched-routes.ts';
import type { DiffRoute } from '../side.ts';

/** Creates requests that match both routes of a pair: typical ones, and variants in one parameter. `isCut`: a search used its steps. */
export function sampleRequests(pair: MatchedRoutePair): { requests: readonly DiffRequest[]; isCut: boolean } {
  if (pair.request === undefined) return { requests: [], isCut: false };
  const { method, url } = pair.request;
  const parameters = parameterSamples(pair);
  const requests = [...variantsOf(parameters)].flatMap((values) => {
    const path = pathWith(url, values);
    const headers = headersOf(values);
    const request = { method, url: path + queryOf(values), ...(headers.length > 0 && { headers }) };
    return isReadable(path) && bothReceive(pair, method, path) ? [request] : [];
  });
  return { requests, isCut: parameters.some(({ isCut }) => isCut) };
}

/** A parameter in a request. The name of an extra one is the query as sent. */
interface ParameterPlace {
  readonly kind: ParameterKind | 'extra';
  readonly name: string;
}

type ParameterValues = ReadonlyMap<ParameterPlace, readonly string[]>;

/** Yields combinations of values that differ in one parameter from a request which both routes accept, or one of them. */
function* variantsOf(parameters: readonly ParameterSamples[]): Generator<ParameterValues> {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const bases = [1, 2].map((side) =>
    required.map((parameter): [ParameterPlace, readonly string[]] => [
      parameter,
      [parameter.typical[0] ?? parameter.typical[side] ?? 'x'],
    ]),
  );
  for (const base of bases) {
    const withOther = (place: ParameterPlace, texts: readonly string[]) => new Map([...base, [place, texts]]);
    yield new Map(base);
    for (const parameter of parameters) for (const texts of textsOf(parameter)) yield withOther(parameter, texts);
    for (const name of EXTRA_QUERIES) yield withOther({ kind: 'extra', name }, []);
    for (const { kind, name } of parameters)
      if (kind === 'headers') yield withOther({ kind, name: 'Connection' }, [name]);
  }
}

/** Query parameters that no schema lists: one, a repeated one, and one with a semicolon. */
const EXTRA_QUERIES = ['other=x', 'other=x&other=x', 'other;=x'];

/** Returns no value, each sample, a repeated value, and a text that is no UTF-8. */
function textsOf({ kind, typical, samples }: ParameterSamples): (readonly string[])[] {
  const single = samples.map((sample) => [sample]);
  if (kind === 'params') return single;
  const repeated = typical.flatMap((text) => (text === undefined ? [] : [[text, text]]));
  return [[], ...single, ...repeated, ...(kind === 'query' ? [[NOT_UTF8]] : [])];
}

/** Stands for the escape `%FF`, which is no UTF-8. */
const NOT_UTF8 = '\udcff';

type ParameterSamples = ReturnType<typeof parameterSamples>[number];

/** Returns the parameters of both routes with sample texts. */
function parameterSamples(pair: MatchedRoutePair) {
  const { from, to } = pair;
  const declared = [from, to].flatMap((route) => PARAMETER_KINDS.flatMap((kind) => parametersOf(route, kind)));
  return [...Map.groupBy(declared, ({ key }) => key).values()].map((group) => {
    const [{ kind, name }] = group as [DeclaredParameter];
    const literal = kind === 'params' ? literalAt(pair, Number(name)) : undefined;
    const isRequired = group.some((parameter) => parameter.isRequired);
    if (literal !== undefined) return { kind, name, isRequired, typical: [literal], samples: [literal], isCut: false };
    const { texts, isCut } = parameterTexts(group.map(({ route, path }) => ({ root: route.side.schemas, path })));
    const samples = texts.filter((text) => isUsable(kind, text));
    const owners = [group, group.filter(({ route }) => route === from), group.filter(({ route }) => route === to)];
    // A text that both schemas accept, one that the old schema accepts, and one that the new schema accepts.
    const typical = owners.map((some) => samples.find((text) => some.every(({ accepts }) => accepts(text))));
    return { kind, name, isRequired, typical, samples, isCut };
  });
}

/** Returns the only text that a segment can have in requests that both routes receive. @param segment from 1 */
export function literalAt({ from, to }: MatchedRoutePair, segment: number): string | undefined {
  const literal = [from, to].map(({ pattern }) => pattern[segment - 1]).find((one) => one?.kind === 'literal');
  return literal?.kind === 'literal' ? decodeURIComponent(literal.text) : undefined;
}

type DeclaredParameter = ReturnType<typeof parametersOf>[number];

/** Returns the parameters of one route. */
function parametersOf(route: DiffRoute, kind: ParameterKind) {
  const { schemas, validatorAt } = route.side;
  const { properties, required } = { properties: {}, required: [] as readonly string[], ...route.entry[kind] };
  return Object.keys(properties).map((parameter) => {
    const path: Path = [...route.path, kind, 'properties', parameter];
    const validate = createParameterValidator({ validate: validatorAt(path), types: typesAt(schemas, path) });
    // A path parameter is named by the number of its segment.
    const name = kind === 'params' ? String(segmentOf(route, parameter)) : parameter;
    const isRequired = kind === 'params' || required.includes(parameter);
    // Equal for the same parameter of both routes.
    const key = `${kind} ${kind === 'headers' ? foldHeaderName(name) : name}`;
    return { kind, name, key, route, path, isRequired, accepts: (text: string) => validate(text, '').length === 0 };
  });
}

/** Returns the number of the segment of a path parameter. */
export function segmentOf({ pattern }: MatchedRoutePair['from'], name: string): number {
  return 1 + pattern.findIndex((segment) => segment.kind === 'parameter' && segment.name === name);
}

/** True for texts that a request can carry in this place. */
function isUsable(kind: ParameterKind, text: string): boolean {
  if (text.length > MAX_TEXT || !text.isWellFormed()) return false;
  if (kind === 'params') return text !== '' && isReadable(`/${encodeURIComponent(text)}`);
  return kind === 'query' || /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text);
}

/** A longer text does not fit into the head of a request. */
const MAX_TEXT = 8_000;

/** True if the gateway reads a path instead of refusing it as ambiguous. */
function isReadable(path: string): boolean {
  try {
    return readRequestTarget(path, undefined).path === path;
  } catch {
    return false;
  }
}

function pathWith(url: string, values: ParameterValues): string {
  const segments = url.split('/');
  for (const [{ kind, name }, [text = '']] of values)
    if (kind === 'params') segments[Number(name)] = encodeURIComponent(text);
  return segments.join('/');
}

function queryOf(values: ParameterValues): string {
  const pairs = [...values].flatMap(([{ kind, name }, texts]) =>
    kind === 'extra'
      ? [name]
      : kind === 'query'
        ? texts.map((text) => `${encodeURIComponent(name)}=${encodeText(text)}`)
        : [],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function encodeText(text: string): string {
  return text === NOT_UTF8 ? '%FF' : encodeURIComponent(text);
}

function headersOf(values: ParameterValues): string[] {
  return [...values].flatMap(([{ kind, name }, texts]) =>
    kind === 'headers' ? texts.flatMap((text) => [name, text]) : [],
  );
}
