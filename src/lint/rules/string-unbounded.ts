import { findingAt, type Rule } from '../rule.ts';
import { allowsType, type Schema } from '../schema-nodes.ts';

export const stringUnbounded: Rule = {
  id: 'string-unbounded',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Only the length of the whole body bounds it: a name may be a megabyte, and reach a column, a log line or a mail of the upstream.',
  *find({ schemas }) {
    for (const { schema, path, isInPlace } of schemas)
      if (!isInPlace && isBodyPlace(path) && allowsType(schema, 'string') && !isBounded(schema))
        yield findingAt(path, 'this string may be as long as the whole body; add maxLength:');
  },
};

/** The head of a request bounds its parameters. */
function isBodyPlace(path: readonly (string | number)[]): boolean {
  return path[0] === 'schemas' || path[2] === 'body';
}

const BOUNDS = ['maxLength', 'contentMaxBytes', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];
const SHORT_FORMATS = new Set([
  'date',
  'time',
  'date-time',
  'duration',
  'uuid',
  'ipv4',
  'ipv6',
  'email',
  'hostname',
  'iso-time',
  'iso-date-time',
]);

function isBounded(schema: Schema): boolean {
  const { format, pattern } = schema;
  const isShort = typeof format === 'string' && SHORT_FORMATS.has(format);
  // A pattern that is anchored and repeats nothing without end bounds the length too.
  const isFixed = typeof pattern === 'string' && /^\^.*\$$/s.test(pattern) && !/[*+|]|,\}/.test(pattern);
  return isShort || isFixed || BOUNDS.some((keyword) => Object.hasOwn(schema, keyword));
}
