import { pointerStep } from '../../json-pointer.ts';
import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Violation } from '../violation.ts';
import type { ParameterValidator } from './parameter-value.ts';
import type { ParameterRules } from './parameters.ts';

type QueryEntry = NonNullable<RouteEntry['query']>;

/**
 * Judges a query as HTML forms write it (`a=1&b=x+y`). It is read for the judgement only, and goes on as it was
 * sent. A value that does not decode to UTF-8 could be read in two ways, so a listed name cannot have it.
 */
export function compileQuery(
  { required, unknown, repeated }: QueryEntry,
  judges: ReadonlyMap<string, ParameterValidator>,
): ParameterRules['validate'] {
  const mayRepeat =
    repeated === 'allow' ? () => true : (name: string) => repeated !== 'refuse' && repeated.includes(name);
  return (_target, query) => {
    const faults: Violation[] = [];
    const seen = new Set<string>();
    for (const piece of query.slice(1).split('&')) {
      if (piece === '') continue;
      const mark = piece.indexOf('=');
      const written = mark === -1 ? piece : piece.slice(0, mark);
      const name = decode(written) ?? written;
      const judge = judges.get(name);
      const pointer = judge === undefined ? '/query' : `/query${pointerStep(name)}`;
      if (seen.has(name) && !mayRepeat(name)) faults.push({ pointer, message: TWICE });
      seen.add(name);
      if (judge !== undefined) faults.push(...validateValue(judge, mark === -1 ? '' : piece.slice(mark + 1), pointer));
      else if (unknown === 'refuse') faults.push({ pointer, message: 'has a name that is not known here' });
      if (faults.length >= ENOUGH) break;
    }
    if (unknown === 'refuse' && query.includes(';')) faults.push({ pointer: '/query', message: SEMICOLON });
    for (const name of required)
      if (!seen.has(name)) faults.push({ pointer: `/query${pointerStep(name)}`, message: 'is missing' });
    return faults;
  };
}

/** More are not told. */
const ENOUGH = 20;
const TWICE = 'stands in the query twice';
/** Where only known names may stand, none may hide behind it. */
const SEMICOLON = 'holds a semicolon, which separates parameters for some servers; write %3B';

function validateValue(judge: ParameterValidator, written: string, pointer: string): readonly Violation[] {
  const value = decode(written);
  return value === undefined ? [{ pointer, message: 'must be percent-encoded UTF-8' }] : judge(value, pointer);
}

function decode(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
