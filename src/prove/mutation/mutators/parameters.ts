import { withoutValue, withValue } from '../edits.ts';
import type { Mutator, Probe, TestedRoute } from '../mutant.ts';
import { withHeader, withoutHeader, withPathParameter, withQuery, withRequest } from '../probes.ts';

const KINDS = ['params', 'query', 'headers'] as const;
export type ParameterKind = (typeof KINDS)[number];

export const parameterRemoved: Mutator = {
  id: 'parameter-removed',
  summary: 'a parameter of a route has no schema',
  *find(context) {
    for (const tested of context.routes)
      for (const kind of KINDS)
        for (const name of Object.keys(tested.entry[kind]?.properties ?? {})) {
          const path = [...tested.path, kind, 'properties', name];
          yield {
            path,
            message: `"${tested.entry.id}" accepts every value of ${nounOf(kind)} "${name}"`,
            manifest: withValue(context.manifest, path, true),
            routes: [tested],
            probes: (base) =>
              context.invalidTexts(path).flatMap((text) => [...withParameter(base, tested, kind, name, text)]),
          };
        }
  },
};

export const parameterOptional: Mutator = {
  id: 'parameter-optional',
  summary: 'a required parameter of a route is optional',
  *find({ manifest, routes }) {
    for (const tested of routes)
      for (const kind of ['query', 'headers'] as const)
        for (const [index, name] of (tested.entry[kind]?.required ?? []).entries()) {
          const path = [...tested.path, kind, 'required', index];
          yield {
            path,
            message: `"${tested.entry.id}" accepts requests without ${nounOf(kind)} "${name}"`,
            manifest: withoutValue(manifest, path),
            routes: [tested],
            probes: (base) => [
              kind === 'query'
                ? withQuery(base, name)
                : withRequest(base, { headers: withoutHeader(base.request.headers, name.toLowerCase()) }),
            ],
          };
        }
  },
};

export const queryOpened: Mutator = {
  id: 'query-opened',
  summary: 'a route accepts unknown or repeated query parameters',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { query, id } = tested.entry;
      const names = [...Object.keys(query?.properties ?? {}), 'other_parameter'];
      for (const key of ['unknown', 'repeated'] as const) {
        if (query === undefined || query[key] === 'allow') continue;
        const path = [...tested.path, 'query', key];
        yield {
          path,
          message: `"${id}" accepts ${key} query parameters`,
          manifest: withValue(manifest, path, 'allow'),
          routes: [tested],
          probes: (base) =>
            names.flatMap((name) => [
              withQuery(base, name, 'x'),
              ...['x', '1', sentValue(base, name)].map((value) => withQuery(base, name, value, value)),
            ]),
        };
      }
    }
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
export function* withParameter(
  base: Probe,
  { entry }: TestedRoute,
  kind: ParameterKind,
  name: string,
  text: string,
): Generator<Probe> {
  if (kind === 'query') yield withQuery(base, name, text);
  else if (kind === 'params') yield* withPathParameter(base, entry.path, name, text);
  else if (/^[ -~]*$/.test(text)) yield withHeader(base, name, text);
}
