/** Keys of other gateways and the key for the same setting here, by their letters in lower case. */
const FOREIGN_KEYS: Readonly<Record<string, readonly string[]>> = {
  access: ['public', 'protected', 'auth', 'authentication', 'security'],
  auth: ['authentication', 'security', 'jwt', 'oidc'],
  id: ['name', 'operationid'],
  listen: ['port', 'bind', 'address', 'host'],
  maxBytes: ['limit', 'maxsize', 'maxbodysize', 'clientmaxbodysize'],
  method: ['verb', 'verbs'],
  path: ['uri', 'uris', 'route', 'location', 'match'],
  routes: ['paths', 'endpoints', 'locations'],
  schemas: ['components', 'definitions', 'models'],
  tls: ['ssl', 'https'],
  upstream: ['service', 'backend', 'target', 'cluster', 'proxy', 'proxypass'],
  upstreamPath: ['rewrite', 'prefixrewrite', 'stripprefix', 'strippath'],
  upstreams: ['services', 'backends', 'targets', 'clusters'],
  url: ['uri', 'host', 'address', 'target', 'server'],
  urls: ['servers', 'hosts', 'addresses', 'targets', 'endpoints'],
};

/** Returns the key that has the meaning of a key of another gateway. */
export function nativeKey(written: string, known: readonly string[]): string | undefined {
  const letters = written.toLowerCase().replaceAll(/[^a-z]/g, '');
  return known.find((key) => FOREIGN_KEYS[key]?.includes(letters));
}
