import { sizeBytes } from '../../../engine/manifest/units.ts';
import { withoutValue, withValue } from '../edits.ts';
import { changedMultipartBodies, formatPart, MULTIPART_END, MULTIPART_TYPE } from '../multipart-bodies.ts';
import type { Mutant, MutationContext, Mutator, Probe, TestedRoute } from '../mutant.ts';
import {
  withBodyOf,
  withHeader,
  withJsonBody,
  withoutBody,
  withPathParameter,
  withQuery,
  withTextBody,
} from '../probes.ts';

export const bodyRuleRemoved: Mutator = {
  id: 'body-rule-removed',
  summary: 'a route has no `body`, or no schema, no parts or no columns in it',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { body, id } = tested.entry;
      if (body === undefined) continue;
      const path = [...tested.path, 'body'];
      const probes = (base: Probe) => [withBodyOf(base, sizeBytes(body.maxBytes) + 1), ...oddBodies(base)];
      const removed = { routes: [tested], probes };
      yield { ...removed, path, message: `"${id}" accepts every body`, manifest: withoutValue(manifest, path) };
      for (const key of ['schema', 'multipart', 'csv'] as const) {
        if (body[key] === undefined) continue;
        const open = withoutValue(manifest, [...path, key]);
        yield {
          ...removed,
          path: [...path, key],
          message: `"${id}" accepts every body up to its limit`,
          manifest: open,
        };
      }
    }
  },
};

export const bodyLimitRaised: Mutator = {
  id: 'body-limit-raised',
  summary: '`body.maxBytes` of a route is one byte larger',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { body, id } = tested.entry;
      if (body === undefined) continue;
      const path = [...tested.path, 'body', 'maxBytes'];
      const bytes = sizeBytes(body.maxBytes) + 1;
      yield {
        path,
        message: `"${id}" accepts bodies with one byte more than ${body.maxBytes}`,
        manifest: withValue(manifest, path, `${bytes}B`),
        routes: [tested],
        probes: (base) => [withBodyOf(base, bytes)],
      };
    }
  },
};

export const mediaTypeAdded: Mutator = {
  id: 'media-type-added',
  summary: '`body.types` of a route allows more media types',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { body, id } = tested.entry;
      if (body?.types === undefined) continue;
      const path = [...tested.path, 'body', 'types'];
      yield {
        path,
        message: `"${id}" accepts bodies of other media types`,
        manifest: withoutValue(manifest, path),
        routes: [tested],
        probes: (base) => [
          ...OTHER_TYPES.map((type) => withHeader(base, 'Content-Type', type)),
          ...oddBodies(base),
          withHeader(withBodyOf(base, 1), 'Content-Type', 'text/plain'),
        ],
      };
    }
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

export const partRuleLoosened: Mutator = {
  id: 'part-rule-loosened',
  summary: 'a part of a multipart body is optional, may be larger, more frequent or of any type',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { multipart } = tested.entry.body ?? {};
      if (multipart === undefined) continue;
      for (const [name, part] of Object.entries(multipart.parts)) {
        const path = [...tested.path, 'body', 'multipart', 'parts', name];
        const loosened = {
          routes: [tested],
          probes: (base: Probe) =>
            changedMultipartBodies(multipart).map((text) => withTextBody(base, MULTIPART_TYPE, text)),
        };
        const text = `the part "${name}" of "${tested.entry.id}"`;
        const change = (key: string, value: unknown, message: string): Mutant => ({
          ...loosened,
          path: [...path, key],
          message,
          manifest:
            value === undefined ? withoutValue(manifest, [...path, key]) : withValue(manifest, [...path, key], value),
        });
        if (part.required) yield change('required', false, `${text} is optional`);
        if (part.types !== undefined) yield change('types', undefined, `${text} may have any media type`);
        yield change('maxCount', part.maxCount + 1, `${text} may appear once more`);
        yield change('maxBytes', `${sizeBytes(part.maxBytes) + 1}B`, `${text} may be larger by one byte`);
      }
    }
  },
};

export const validationReport: Mutator = {
  id: 'validation-report',
  summary: 'a route only reports violations and forwards the request',
  *find(context) {
    for (const tested of context.routes) {
      const { validation, id } = tested.entry;
      const { body, parameters } = tested.route;
      const hasRules = (body?.types ?? body?.validate ?? body?.streamValidatorFor ?? parameters) !== undefined;
      if (validation === 'report' || !hasRules) continue;
      yield {
        path: [...tested.path, 'validation'],
        message: `"${id}" forwards requests with violations`,
        manifest: withValue(context.manifest, [...tested.path, 'validation'], 'report'),
        routes: [tested],
        probes: (base) => invalidRequests(context, base, tested),
      };
    }
  },
};

/** Yields requests that violate a rule of the route about parameters or the body. */
export function* invalidRequests(
  context: MutationContext,
  base: Probe,
  { path, entry }: TestedRoute,
): Generator<Probe> {
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
