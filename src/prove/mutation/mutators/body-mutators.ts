import { sizeBytes } from '../../../engine/manifest/units.ts';
import type { MutationContext, TestedRoute } from '../context.ts';
import { inEachRoute, type Mutators, type Probe } from '../mutant.ts';
import {
  changedMultipartBodies,
  formatPart,
  MULTIPART_END,
  MULTIPART_TYPE,
  withBodyOf,
  withHeader,
  withJsonBody,
  withoutBody,
  withPathParameter,
  withQuery,
  withTextBody,
} from '../probes.ts';

export const bodyMutators: Mutators = {
  'body-rule-removed': {
    summary: 'a route has no `body`, or no schema, no parts or no columns in it',
    find: inEachRoute(function* ({ entry: { body } }) {
      if (body === undefined) return;
      const probes = (base: Probe) => [withBodyOf(base, sizeBytes(body.maxBytes) + 1), ...oddBodies(base)];
      yield { at: ['body'], effect: 'accepts every body', probes };
      for (const key of ['schema', 'multipart', 'csv'] as const)
        if (body[key] !== undefined) yield { at: ['body', key], effect: 'accepts every body up to its limit', probes };
    }),
  },
  'body-limit-raised': {
    summary: '`body.maxBytes` of a route is one byte larger',
    find: inEachRoute(function* ({ entry: { body } }) {
      if (body === undefined) return;
      const bytes = sizeBytes(body.maxBytes) + 1;
      yield {
        at: ['body', 'maxBytes'],
        value: `${bytes}B`,
        effect: `accepts bodies with one byte more than ${body.maxBytes}`,
        probes: (base) => [withBodyOf(base, bytes)],
      };
    }),
  },
  'media-type-added': {
    summary: '`body.types` of a route allows more media types',
    find: inEachRoute(function* ({ entry: { body } }) {
      if (body?.types === undefined) return;
      yield {
        at: ['body', 'types'],
        effect: 'accepts bodies of other media types',
        probes: (base) => [
          ...OTHER_TYPES.map((type) => withHeader(base, 'Content-Type', type)),
          ...oddBodies(base),
          withHeader(withBodyOf(base, 1), 'Content-Type', 'text/plain'),
        ],
      };
    }),
  },
  'part-rule-loosened': {
    summary: 'a part of a multipart body is optional, may be larger, more frequent or of any type',
    find: inEachRoute(function* ({ entry: { body, id } }) {
      const { multipart } = body ?? {};
      if (multipart === undefined) return;
      const probes = (base: Probe) =>
        changedMultipartBodies(multipart).map((text) => withTextBody(base, MULTIPART_TYPE, text));
      for (const [name, part] of Object.entries(multipart.parts)) {
        const change = (key: string, value: unknown, effect: string) => ({
          at: ['body', 'multipart', 'parts', name, key],
          value,
          message: `the part "${name}" of "${id}" ${effect}`,
          probes,
        });
        if (part.required) yield change('required', false, 'is optional');
        if (part.types !== undefined) yield change('types', undefined, 'may have any media type');
        yield change('maxCount', part.maxCount + 1, 'may appear once more');
        yield change('maxBytes', `${sizeBytes(part.maxBytes) + 1}B`, 'may be larger by one byte');
      }
    }),
  },
  'validation-report': {
    summary: 'a route only reports violations and forwards the request',
    find: inEachRoute(function* (tested, context) {
      const { body, parameters } = tested.route;
      const hasRules = (body?.types ?? body?.validate ?? body?.streamValidatorFor ?? parameters) !== undefined;
      if (tested.entry.validation === 'report' || !hasRules) return;
      yield {
        at: ['validation'],
        value: 'report',
        effect: 'forwards requests with violations',
        probes: (base) => invalidRequests(context, base, tested),
      };
    }),
  },
};

export const OTHER_TYPES = ['text/plain', 'application/json', 'application/problem+json', 'application/octet-stream'];

/** Returns the request with bodies that few routes accept. */
export function oddBodies(base: Probe): Probe[] {
  return [
    ...[{}, [], 'x', 7].map((value) => withJsonBody(base, value)),
    withTextBody(base, 'text/plain', 'x'),
    withTextBody(base, 'text/csv', 'a,b\n1,2\n'),
    withTextBody(base, MULTIPART_TYPE, formatPart('other') + MULTIPART_END),
  ];
}

/** Yields requests that violate a rule of the route about parameters or the body. */
export function* invalidRequests(context: MutationContext, base: Probe, { path, entry }: TestedRoute) {
  if (entry.body !== undefined) yield* oddBodies(base);
  if (entry.query?.unknown === 'refuse') yield withQuery(base, 'other_parameter', 'x');
  for (const name of Object.keys(entry.query?.properties ?? {})) {
    yield withQuery(base, name);
    for (const text of context.invalidTexts([...path, 'query', 'properties', name])) yield withQuery(base, name, text);
  }
  for (const name of Object.keys(entry.headers?.properties ?? {})) {
    yield withHeader(base, name, ' ');
    for (const text of context.invalidTexts([...path, 'headers', 'properties', name]))
      yield withHeader(base, name, text);
  }
  for (const name of Object.keys(entry.params?.properties ?? {}))
    for (const text of context.invalidTexts([...path, 'params', 'properties', name]))
      yield* withPathParameter(base, entry.path, name, text);
  yield withoutBody(base);
}
