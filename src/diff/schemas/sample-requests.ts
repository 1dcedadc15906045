import type { MatchedRoutePair } from '../comparisons/matched-routes.ts';
import type { DiffContext, DiffRequest } from '../difference.ts';
import { sampleValues } from './sample-values.ts';

/** A parameter with sample values. */
interface ParameterSamples {
  readonly kind: 'params' | 'query' | 'headers';
  /** The name; for a path parameter, the number of its segment. */
  readonly name: string;
  readonly isRequired: boolean;
  /** A value that both schemas accept, if any sample does. */
  readonly typical: string;
  readonly samples: readonly string[];
}

/** Creates requests that match both routes of a pair: a typical one, and variants that differ from it in one parameter. */
export function sampleRequests(sides: DiffContext, pair: MatchedRoutePair): DiffRequest[] {
  if (pair.request === undefined) return [];
  const { method, url } = pair.request;
  const parameters = parameterSamples(sides, pair);
  const base = new Map(
    parameters.filter(({ isRequired }) => isRequired).map((parameter) => [parameter, [parameter.typical]]),
  );
  const extraQueries = [
    { ...EXTRA, values: [] as string[] },
    { ...EXTRA, values: ['x'] },
  ];
  const variants = [
    ...extraQueries.map(({ values, ...extra }) => new Map([...base, [extra, values]])),
    ...parameters.flatMap((parameter) =>
      variantsOf(parameter).map((values) => new Map([...base, [parameter, values]])),
    ),
  ];
  const matchesBoth = (path: string) =>
    sides.old.plan.router.match(method, path) === pair.from.route &&
    sides.next.plan.router.match(method, path) === pair.to.route;
  return variants.flatMap((values) => {
    const path = pathWith(url, values);
    const headers = headersOf(values);
    const request = { method, url: path + queryOf(values), ...(headers.length > 0 && { headers }) };
    return matchesBoth(path) ? [request] : [];
  });
}

const EXTRA: ParameterSamples = { kind: 'query', name: 'other', isRequired: false, typical: 'x', samples: [] };

/** Returns no value, each sample, and a repeated value. */
function variantsOf({ kind, typical, samples }: ParameterSamples): string[][] {
  const single = samples.map((sample) => [sample]);
  return kind === 'params' ? single : [[], ...single, [typical, typical]];
}

function parameterSamples({ old, next }: DiffContext, { from, to }: MatchedRoutePair): ParameterSamples[] {
  const routes = [
    ['old', old, from],
    ['new', next, to],
  ] as const;
  const declared = routes.flatMap(([name, side, route]) =>
    KINDS.flatMap((kind) =>
      Object.keys(route.entry[kind]?.properties ?? {}).map((parameter) => {
        const path = [...route.path, kind, 'properties', parameter];
        const validate = side.validatorAt(path);
        const samples = sampleValues([{ side: name, root: side.schemas, path, validatorAt: side.validatorAt }]).filter(
          isPrimitive,
        );
        const valid = samples.filter((value) => validate(value, 0).length === 0);
        const index = route.pattern.findIndex((segment) => segment.kind === 'parameter' && segment.name === parameter);
        const isRequired = kind === 'params' || (route.entry[kind]?.required.includes(parameter) ?? false);
        return { kind, name: kind === 'params' ? String(index + 1) : parameter, isRequired, samples, valid };
      }),
    ),
  );
  return [...Map.groupBy(declared, ({ kind, name }) => `${kind} ${name.toLowerCase()}`).values()].map((group) => {
    const [{ kind, name, valid } = EMPTY] = group;
    const common = valid.find((value) => group.every((other) => other.valid.includes(value)));
    const usable = group
      .flatMap(({ samples }) => samples)
      .map(String)
      .filter(USABLE[kind]);
    const typical = [common, ...valid].map((value) => String(value ?? '')).find(USABLE[kind]) ?? 'x';
    return {
      kind,
      name,
      isRequired: group.some(({ isRequired }) => isRequired),
      typical,
      samples: [...new Set(usable)],
    };
  });
}

const KINDS = ['params', 'query', 'headers'] as const;
const EMPTY = { kind: 'query' as const, name: '', valid: [] as Primitive[] };

type Primitive = string | number | boolean;

function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Values that percent-encoding alone makes valid in a path, a query or a header. */
const USABLE: Readonly<Record<ParameterSamples['kind'], (text: string) => boolean>> = {
  params: (text) => /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/.test(text) && !text.endsWith('.'),
  query: () => true,
  headers: (text) => /^[!-~]+$/.test(text),
};

type ParameterValues = ReadonlyMap<ParameterSamples, readonly string[]>;

function pathWith(url: string, values: ParameterValues): string {
  const segments = url.split('/');
  for (const [{ kind, name }, [text = '']] of values) if (kind === 'params') segments[Number(name)] = text;
  return segments.join('/');
}

function queryOf(values: ParameterValues): string {
  const pairs = [...values].flatMap(([{ kind, name }, texts]) =>
    kind === 'query' ? texts.map((text) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`) : [],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function headersOf(values: ParameterValues): string[] {
  return [...values].flatMap(([{ kind, name }, texts]) =>
    kind === 'headers' ? texts.flatMap((text) => [name, text]) : [],
  );
}
