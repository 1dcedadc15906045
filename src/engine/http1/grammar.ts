/** Field lines (RFC 9112 section 5) as a regular expression for latin-1 text: no folding, and no blank before the colon. */
export const FIELD_LINES = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*/.source;
