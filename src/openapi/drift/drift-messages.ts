import type { Difference } from '../../prove/diff/difference.ts';

/** Formats a message from the names of a route and of an operation. */
type Sentence = (route: string, operation: string) => string;

/** The messages of `diff` describe a change, but a document is no earlier version of a manifest. */
const MATCHED: Readonly<Record<string, Sentence>> = {
  'route-public': (route, operation) => `the route ${route} is public, but the operation ${operation} is secured`,
  'route-protected': (route, operation) => `the route ${route} is protected, but the operation ${operation} is public`,
  'route-narrowed': (route, operation) =>
    `the route ${route} does not receive all requests of the operation ${operation}`,
  'route-added-public': (route, operation) =>
    `the public route ${route} receives requests that the operation ${operation} does not describe`,
  'route-added': (route, operation) =>
    `the protected route ${route} receives requests that the operation ${operation} does not describe`,
  'body-loosened': (route, operation) =>
    `the route ${route} accepts bodies that the operation ${operation} does not allow`,
  'body-tightened': (route, operation) => `the route ${route} refuses bodies that the operation ${operation} allows`,
  'body-changed': (route, operation) =>
    `the route ${route} and the operation ${operation} have different schemas for bodies, and no known request shows the effect`,
  'media-types-widened': (route, operation) =>
    `the route ${route} accepts media types that the operation ${operation} does not list`,
  'media-types-narrowed': (route, operation) =>
    `the route ${route} refuses media types that the operation ${operation} lists`,
  'form-changed': (route, operation) =>
    `the route ${route} and the operation ${operation} have different parts of forms, and the route accepts other ones`,
  'form-added': (route, operation) => `the route ${route} refuses forms that the operation ${operation} allows`,
  'parameters-loosened': (route, operation) =>
    `the route ${route} accepts parameters that the operation ${operation} does not allow`,
  'parameters-tightened': (route, operation) =>
    `the route ${route} refuses parameters that the operation ${operation} allows`,
  'parameters-changed': (route, operation) =>
    `the route ${route} and the operation ${operation} have different rules for parameters, and no known request shows the effect`,
};

/** The kinds of differences about a route without an operation, or the reverse. */
export const UNMATCHED_RULES: ReadonlySet<string> = new Set(['route-added', 'route-removed']);

/** The kinds of differences about settings that OpenAPI has. */
export const DRIFT_RULES: ReadonlySet<string> = new Set([...Object.keys(MATCHED), ...UNMATCHED_RULES]);

/** Those about bodies. */
export const BODY_RULES: ReadonlySet<string> = new Set(
  Object.keys(MATCHED).filter((rule) => /^(?:body|form|media-types)-/.test(rule)),
);

const UNMATCHED_ROUTE: Readonly<Record<string, string>> = {
  'route-added-public': 'the public route',
  'route-added': 'the route',
};

/** Returns a difference with a message for a document and a manifest. Other messages of `diff` stay. */
export function withDriftMessage(difference: Difference): Difference {
  const message = messageOf(difference);
  return message === undefined ? difference : { ...difference, message };
}

function messageOf({ rule, counterpart: { oldId, nextId } }: Difference): string | undefined {
  if (oldId !== undefined && nextId !== undefined) return MATCHED[rule]?.(`"${nextId}"`, `"${oldId}"`);
  if (rule === 'route-removed') return `no route receives the requests of the operation "${oldId}"`;
  const subject = UNMATCHED_ROUTE[rule];
  return subject && `${subject} "${nextId}" has no operation`;
}
