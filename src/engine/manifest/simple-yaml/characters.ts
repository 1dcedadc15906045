// Code units. Comparing numbers is much faster than comparing strings of one character.

export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const AMPERSAND = 0x26;
const SINGLE_QUOTE = 0x27;
export const ASTERISK = 0x2a;
export const COMMA = 0x2c;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const GREATER = 0x3e;
const LIST_START = 0x5b;
export const BACKSLASH = 0x5c;
export const LIST_END = 0x5d;
export const MAP_START = 0x7b;
export const PIPE = 0x7c;
export const MAP_END = 0x7d;

export function isOpeningBracket(code: number): boolean {
  return code === MAP_START || code === LIST_START;
}

export function isClosingBracket(code: number): boolean {
  return code === MAP_END || code === LIST_END;
}

export function isQuote(code: number): boolean {
  return code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
}
