import { UnsupportedPattern } from './unsupported-pattern.ts';

const NAMED = /^\(\?<([^>]*)>/;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u;
const FLAGS = /^\(\?[a-zA-Z^-]*[:)]/;
const NOT_LINEAR = 'cannot run in linear time';

/** The starts of groups that are not supported. */
const UNSUPPORTED: readonly (readonly [start: string, message: string])[] = [
  ['(?=', `the look-ahead (?= ${NOT_LINEAR}; write its pattern in a second schema of allOf`],
  ['(?!', `the negative look-ahead (?! ${NOT_LINEAR}; write its pattern in a schema under not`],
  ['(?<=', `the look-behind (?<= ${NOT_LINEAR}; write its text as a part of the pattern`],
  ['(?<!', `the negative look-behind (?<! ${NOT_LINEAR}; write a second schema under not`],
  ['(?P<', '(?P< is not part of ECMA-262; write (?<'],
  ["(?'", "(?' is not part of ECMA-262; write (?<name>"],
  ['(?P=', `the back-reference (?P= ${NOT_LINEAR}; write out the text that it repeats`],
  ['(?>', 'the atomic group (?> is not part of ECMA-262; write (?:'],
  ['(?|', 'the group (?| is not part of ECMA-262; write (?:'],
  ['(?#', 'the comment (?# is not part of ECMA-262; write it in "$comment"'],
  ['(?(', 'the condition (?( is not part of ECMA-262; write if, then and else in the schema'],
  ['(?R', 'the recursion (?R is not part of ECMA-262; write out the levels'],
  ['(?&', 'the recursion (?& is not part of ECMA-262; write out the levels'],
];

/** Reads the start of a group whose parenthesis is at `at`. Names have no effect, because nothing refers to them. */
export function readGroup(pattern: string, at: number): { re2: string; end: number } {
  const rest = pattern.slice(at, at + 200);
  if (!rest.startsWith('(?')) return { re2: '(', end: at + 1 };
  for (const start of ['(?:', '(?i:', '(?-i:'])
    if (rest.startsWith(start)) return { re2: start, end: at + start.length };
  const message = UNSUPPORTED.find(([start]) => rest.startsWith(start))?.[1];
  if (message !== undefined) throw new UnsupportedPattern(message);
  const [named, name = ''] = NAMED.exec(rest) ?? [];
  if (named !== undefined && NAME.test(name)) return { re2: '(', end: at + named.length };
  if (rest.startsWith('(?<'))
    throw new UnsupportedPattern('the name of a group is not a name; write one such as (?<year>');
  const [flags] = FLAGS.exec(rest) ?? [];
  if (flags === undefined)
    throw new UnsupportedPattern(`${rest.slice(0, 3)} begins no group; write (?:, or \\( for a parenthesis`);
  const instead = /^\(\?i\)/.test(flags)
    ? 'write it at the start, or (?i:'
    : 'only (?i) at the start and (?i: are supported';
  throw new UnsupportedPattern(`the flags ${flags} are not supported here; ${instead}`);
}
