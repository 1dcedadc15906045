import type { MatchedRoutePair } from '../comparisons/matched-routes.ts';
import type { DiffContext, DiffRequest } from '../difference.ts';
import { sampleValues } from './sample-values.ts';

/** Something of a request that a rule may speak of. */
interface ParameterSamples {
  readonly kind: 'params' | 'query' | 'headers';
  /** Of a segment of the path: its place, counted from the first slash. */
  readonly name: string;
  readonly isRequired: boolean;
  /** One that fits both rules, if any was found. */
  readonly typical: string;
  readonly samples: readonly string[];
}

/** Makes requests from the one route of a pair to the other: a usual one, and each that differs from it in one parameter. */
export function sampleRequests(sides: DiffContext, pair: MatchedRoutePair): DiffRequest[] {
  if (pair.request === undefined) return [];
  const { method, url } = pair.request;
  const slots = parameterSamples(sides, pair);
  const base = new Map(slots.filter(({ isRequired }) => isRequired).map((slot) => [slot, [slot.typical]]));
  const queries = [
    { ...EXTRA, values: [] as string[] },
    { ...EXTRA, values: ['x'] },
  ];
  const variants = [
    ...queries.map(({ values, ...slot }) => new Map([...base, [slot, values]])),
    ...slots.flatMap((slot) => variantsOf(slot).map((values) => new Map([...base, [slot, values]]))),
  ];
  const isHere = (path: string) =>
    sides.old.plan.router.match(method, path) === pair.from.route &&
    sides.next.plan.router.match(method, path) === pair.to.route;
  return variants.flatMap((values) => {
    const path = pathWith(url, values);
    const headers = headersOf(values);
    const request = { method, url: path + queryOf(values), ...(headers.length > 0 && { headers }) };
    return isHere(path) ? [request] : [];
  });
}

const EXTRA: ParameterSamples = { kind: 'query', name: 'other', isRequired: false, typical: 'x', samples: [] };

/** Left out, each of its samples, and two of one. */
function variantsOf({ kind, typical, samples }: ParameterSamples): string[][] {
  const each = samples.map((sample) => [sample]);
  return kind === 'params' ? each : [[], ...each, [typical, typical]];
}

function parameterSamples({ old, next }: DiffContext, { from, to }: MatchedRoutePair): ParameterSamples[] {
  const found = [
    ['old', old, from],
    ['new', next, to],
  ] as const;
  const named = found.flatMap(([which, side, route]) =>
    KINDS.flatMap((kind) =>
      Object.keys(route.entry[kind]?.properties ?? {}).map((name) => {
        const path = [...route.path, kind, 'properties', name];
        const judge = side.validatorAt(path);
        const samples = sampleValues([{ side: which, root: side.schemas, path, validatorAt: side.validatorAt }]).filter(
          isPrimitive,
        );
        const fitting = samples.filter((value) => judge(value, 0).length === 0);
        const place = route.pattern.findIndex((segment) => segment.kind === 'parameter' && segment.name === name);
        const isRequired = kind === 'params' || (route.entry[kind]?.required.includes(name) ?? false);
        return { kind, name: kind === 'params' ? String(place + 1) : name, isRequired, samples, fitting };
      }),
    ),
  );
  return [...Map.groupBy(named, ({ kind, name }) => `${kind} ${name.toLowerCase()}`).values()].map((same) => {
    const [{ kind, name, fitting } = EMPTY] = same;
    const common = fitting.find((value) => same.every((other) => other.fitting.includes(value)));
    const usable = same
      .flatMap(({ samples }) => samples)
      .map(String)
      .filter(USABLE[kind]);
    const usual = [common, ...fitting].map((value) => String(value ?? '')).find(USABLE[kind]) ?? 'x';
    return {
      kind,
      name,
      isRequired: same.some(({ isRequired }) => isRequired),
      typical: usual,
      samples: [...new Set(usable)],
    };
  });
}

const KINDS = ['params', 'query', 'headers'] as const;
const EMPTY = { kind: 'query' as const, name: '', fitting: [] as Primitive[] };

type Primitive = string | number | boolean;

function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** What can stand there without more than percent-encoding. */
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
