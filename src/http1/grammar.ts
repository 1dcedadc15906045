/** Lines of fields (RFC 9112 section 5), for a regular expression over latin-1 text: no folding, no blank before a colon. */
export const FIELD_LINES = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*/.source;
