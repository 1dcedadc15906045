/**
 * Field lines (RFC 9112 section 5) as a regular expression for latin-1 text: no folding, and no blank before the colon. Most values have only
 * printable ASCII, which one range tests in half the time.
 */
export const FIELD_LINES = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*(?:[\t\x80-\xff][ -~]*)*\r\n)*/.source;
