import { hostError } from './host.ts';

/** Parses an HTTP URL without credentials. Returns why no request can use it instead, as the start of a message. */
export function parseHttpUrl(text: string): URL | string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'this is not a URL';
  if (url.username !== '' || url.password !== '') return 'a URL with a user or a password is not allowed';
  if (url.port === '0') return 'no server has port 0';
  return hostError(url.hostname) ?? url;
}
