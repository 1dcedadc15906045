const WRONG_ESCAPE = /~(?![01])/;
const UPWARDS = /^(?:0|[1-9]\d*)(?:[+-](?:0|[1-9]\d*))?/;
const UUID = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/;
const NOT_FRAGMENT = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]|%(?![0-9A-Fa-f]{2})/;
/** An expression that is longer takes noticeable time to parse. */
const MAX_REGEX_CHARACTERS = 65_536;

/** `json-pointer` of RFC 6901 section 3. */
export function isJsonPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !WRONG_ESCAPE.test(text);
}

/** A JSON Pointer as a URI fragment with its `#` (RFC 6901 section 6). */
export function isJsonPointerFragment(text: string): boolean {
  if (!text.startsWith('#') || NOT_FRAGMENT.test(text.slice(1))) return false;
  try {
    return isJsonPointer(decodeURIComponent(text.slice(1)));
  } catch {
    return false;
  }
}

/** `relative-json-pointer` of draft-bhutton-relative-json-pointer-00 section 3. */
export function isRelativeJsonPointer(text: string): boolean {
  const upwards = UPWARDS.exec(text)?.[0];
  const rest = text.slice(upwards?.length);
  return upwards !== undefined && (rest === '#' || isJsonPointer(rest));
}

/** `UUID` of RFC 9562 section 4, in any letter case and of any version and variant. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A regular expression of ECMA-262 with the flag `u`, up to 65,536 characters long. */
export function isRegex(text: string): boolean {
  if (text.length > MAX_REGEX_CHARACTERS) return false;
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
