import { PARAMETER_KINDS, type ParameterKind } from '../../schema-comparison/parameter-texts.ts';
import type { TestedRoute } from '../context.ts';
import { inEachRoute, type Mutators, type Probe } from '../mutant.ts';
import { withHeader, withoutHeader, withPathParameter, withQuery, withRequest } from '../probes.ts';

export const parameterMutators: Mutators = {
  'parameter-removed': {
    summary: 'a parameter of a route has no schema',
    find: inEachRoute(function* (tested, { invalidTexts }) {
      for (const kind of PARAMETER_KINDS)
        for (const name of Object.keys(tested.entry[kind]?.properties ?? {})) {
          const at = [kind, 'properties', name];
          yield {
            at,
            value: true,
            effect: `accepts every value of ${nounOf(kind)} "${name}"`,
            probes: (base) =>
              invalidTexts([...tested.path, ...at]).flatMap((text) => [
                ...withParameter(base, tested, kind, name, text),
              ]),
          };
        }
    }),
  },
  'parameter-optional': {
    summary: 'a required parameter of a route is optional',
    find: inEachRoute(function* ({ entry }) {
      for (const kind of ['query', 'headers'] as const)
        for (const [index, name] of (entry[kind]?.required ?? []).entries())
          yield {
            at: [kind, 'required', index],
            effect: `accepts requests without ${nounOf(kind)} "${name}"`,
            probes: (base) => [
              kind === 'query'
                ? withQuery(base, name)
                : withRequest(base, { headers: withoutHeader(base.request.headers, name.toLowerCase()) }),
            ],
          };
    }),
  },
  'query-opened': {
    summary: 'a route accepts unknown or repeated query parameters',
    find: inEachRoute(function* ({ entry: { query } }) {
      const names = [...Object.keys(query?.properties ?? {}), 'other_parameter'];
      for (const key of ['unknown', 'repeated'] as const)
        if (query !== undefined && query[key] !== 'allow')
          yield {
            at: ['query', key],
            value: 'allow',
            effect: `accepts ${key} query parameters`,
            probes: (base) =>
              names.flatMap((name) => [
                withQuery(base, name, 'x'),
                ...['x', '1', sentValue(base, name)].map((value) => withQuery(base, name, value, value)),
              ]),
          };
    }),
  },
};

/** Returns the value that the probe sends, which is valid. */
function sentValue({ request }: Probe, name: string): string {
  return new URLSearchParams(request.url.split('?')[1] ?? '').get(name) ?? 'x';
}

function nounOf(kind: ParameterKind): string {
  return kind === 'params' ? 'the path parameter' : kind === 'query' ? 'the query parameter' : 'the header';
}

/** Yields requests with this value of a parameter. */
export function* withParameter(base: Probe, { entry }: TestedRoute, kind: ParameterKind, name: string, text: string) {
  if (kind === 'query') yield withQuery(base, name, text);
  else if (kind === 'params') yield* withPathParameter(base, entry.path, name, text);
  else if (/^[ -~]*$/.test(text)) yield withHeader(base, name, text);
}
