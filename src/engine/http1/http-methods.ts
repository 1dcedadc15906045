/** The methods that a route may have, the most common first. A test compares them with the schema. */
const METHODS_BY_USE = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** The methods that a route may have, in the order of an `Allow` header. */
export const HTTP_METHODS: readonly string[] = METHODS_BY_USE.toSorted();

/** Methods whose requests may be repeated (RFC 9110 section 9.2.2). */
export const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/** Methods whose requests usually have content (RFC 9110 section 8.6, RFC 5789 section 2). */
export const CONTENT_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Methods whose requests have no body for a route to validate (RFC 9110 sections 9.3.1 and 9.3.2). */
export const BODYLESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Formats the methods of a route. */
export function formatMethods(methods: readonly string[]): string {
  return methods.length === HTTP_METHODS.length ? 'any' : methods.join(',');
}

/** Returns the methods with the most common ones first. */
export function sortMethods(methods: readonly string[]): readonly string[] {
  return METHODS_BY_USE.filter((method) => methods.includes(method));
}

const REGISTERED = [
  ...METHODS_BY_USE,
  ...'CONNECT TRACE ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY'.split(' '),
  ...'PROPFIND PROPPATCH PURGE QUERY REBIND REPORT SEARCH SUBSCRIBE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(' '),
];

/**
 * The registered methods (RFC 9110 section 16.1) that servers are known to read, by name. A request line with any other is malformed. V8
 * compares these strings by their addresses, and the part of a message that equals one by its characters.
 */
export const REQUEST_METHODS: ReadonlyMap<string, string> = new Map(REGISTERED.map((method) => [method, method]));
