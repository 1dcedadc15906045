/** The longest path of a unix socket on every system (unix(7)). */
const MAX_LENGTH = 103;
const SOCKET_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~@+,=-]+)+$/;

/** Returns the path in `unix:/run/app.sock`; `undefined` for any other address or URL. */
export function socketPathOf(text: string): string | undefined {
  return text.startsWith('unix:') ? text.slice('unix:'.length) : undefined;
}

/**
 * Returns why no unix socket can have a path, as the start of a message; `undefined` if one can.
 *
 * @param reserved the part of the longest path that this one leaves free
 */
export function socketPathError(path: string, reserved = 0): string | undefined {
  const maxLength = MAX_LENGTH - reserved;
  if (path.length <= maxLength && SOCKET_PATH.test(path)) return undefined;
  return `a unix socket has an absolute path of at most ${maxLength} letters, digits and ._~@+,=-`;
}
