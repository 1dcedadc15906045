import { findingAt, type Rule } from '../rule.ts';
import { allowsType, type Schema } from '../schema-nodes.ts';

export const stringUnbounded: Rule = {
  id: 'string-unbounded',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Only the size limit of the body bounds this string: a name of a megabyte may reach a database column, a log line or a mail of the upstream.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && isInBody(path) && allowsType(schema, 'string') && !isBounded(schema))
        yield findingAt(path, 'this string may be as long as the body; add maxLength:');
  },
};

/** True for schemas of bodies. The size limit of the request head bounds parameters. */
function isInBody(path: readonly (string | number)[]): boolean {
  return path[0] === 'schemas' || path[2] === 'body';
}

const BOUNDS = ['maxLength', 'contentMaxBytes', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
const SHORT_FORMATS = new Set([
  'date',
  'time',
  'date-time',
  'uuid',
  'ipv4',
  'ipv6',
  'email',
  'idn-email',
  'hostname',
  'idn-hostname',
  'iso-time',
  'iso-date-time',
]);

function isBounded(schema: Schema): boolean {
  const { format, pattern } = schema;
  const isShort = typeof format === 'string' && SHORT_FORMATS.has(format);
  // An anchored pattern without unbounded repetition also limits the length.
  const isFixed = typeof pattern === 'string' && /^\^.*\$$/s.test(pattern) && !/[*+|]|,\}/.test(pattern);
  return isShort || isFixed || BOUNDS.some((keyword) => Object.hasOwn(schema, keyword));
}
