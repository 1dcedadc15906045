import { pointerStep } from '../json-pointer.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';
import type { Violation } from '../schema/value-validator.ts';
import { readName } from '../text-folding.ts';
import { MAX_VIOLATIONS, type ParametersCheck, type ParameterValidator } from './request-rules.ts';

type QueryEntry = NonNullable<RouteEntry['query']>;

/** Compiles the validation of a query in the format of HTML forms (`a=1&b=x+y`). A listed name cannot have a value that is not UTF-8. */
export function compileQuery(
  { required, unknown, repeated }: QueryEntry,
  validators: ReadonlyMap<string, ParameterValidator>,
): ParametersCheck {
  const mayRepeat =
    repeated === 'allow' ? () => true : (name: string) => repeated !== 'refuse' && repeated.includes(name);
  const listedAs = new Map([...validators.keys()].map((name) => [readParameterName(name)[0], name]));
  return (_path, query) => {
    const violations: Violation[] = [];
    const seen = new Set<string>();
    for (const pair of query.slice(1).split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const encoded = equals === -1 ? pair : pair.slice(0, equals);
      const name = decodeFormText(encoded) ?? encoded;
      const validate = validators.get(name);
      const pointer = validate === undefined ? '/query' : `/query${pointerStep(name)}`;
      const isClear = validate !== undefined || unknown === 'refuse';
      const readings = isClear ? [name] : readParameterName(decodeFormText(encoded) ?? decodeAscii(encoded));
      if (readings.some((one) => seen.has(one)) && !mayRepeat(name)) violations.push({ pointer, message: DUPLICATE });
      for (const one of readings) seen.add(one);
      const listed = readings.map((one) => listedAs.get(one)).find((one) => one !== undefined);
      if (validate !== undefined)
        violations.push(...validateValue(validate, equals === -1 ? '' : pair.slice(equals + 1), pointer));
      else if (unknown === 'refuse') violations.push({ pointer, message: 'has an unknown name' });
      else if (listed !== undefined) violations.push({ pointer: `/query${pointerStep(listed)}`, message: TWIN });
      if (violations.length >= MAX_VIOLATIONS) break;
    }
    if (unknown === 'refuse' && query.includes(';')) violations.push({ pointer: '/query', message: SEMICOLON });
    for (const name of required)
      if (!seen.has(name)) violations.push({ pointer: `/query${pointerStep(name)}`, message: 'is missing' });
    return violations;
  };
}

const TWIN = 'appears in another spelling, which some servers read as this name';
const DUPLICATE = 'appears twice in the query';
/** An unknown name could hide after a semicolon. */
const SEMICOLON = 'contains a semicolon, which separates parameters for some servers; write %3B';

function validateValue(validate: ParameterValidator, encoded: string, pointer: string): readonly Violation[] {
  const value = decodeFormText(encoded);
  return value === undefined ? [{ pointer, message: 'must be percent-encoded UTF-8' }] : validate(value, pointer);
}

/** Does the same as `readName`, and reads a blank, a dot and an opening bracket as PHP does, as `_`. */
function readParameterName(name: string): string[] {
  return readName(name).map((form) => form.replaceAll(/[ .[]/g, ''));
}

/** Decodes a name as a server reads it that drops bytes which are not UTF-8. */
function decodeAscii(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replaceAll(/%[89a-f]./gi, '')
    .replaceAll(/%[0-7][\da-f]/gi, decodeURIComponent);
}

/** Decodes a name or a value as HTML forms encode it; `undefined` if it is not UTF-8. */
export function decodeFormText(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
