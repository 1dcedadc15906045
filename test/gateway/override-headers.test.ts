import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const ROUTES = `  - { id: plain, method: any, path: /plain, upstream: up, access: public, websocket: true }
  - id: kept
    method: any
    path: /kept
    upstream: up
    access: public
    requestHeaders: { set: { X-Rewrite-URL: /set }, keep: [X-HTTP-Method-Override, x-forwarded-prefix, X-Real-IP, x-remote-user] }
`;
const OVERRIDES = [
  'X-Original-URL',
  'X-Original-URI',
  'X-Original-Host',
  'X-Original-Method',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Forwarded-Prefix',
  'X-Forwarded-Path',
  'X-Forwarded-Uri',
  'X-Forwarded-Method',
  'X-Forwarded-Scheme',
  'X-Forwarded-Server',
  'X-Forwarded-Ssl',
  'X-Forwarded-Port',
  'X-Url-Scheme',
  'X-Scheme',
  'Front-End-Https',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-Envoy-Original-Path',
  'X-Middleware-Subrequest',
  'X-Invoke-Path',
  'X-Matched-Path',
  'X-WAWS-Unencoded-URL',
  'X-HTTP-Verb',
  'X-Script-Name',
  'Request-URI',
  'X-Sendfile-Type',
  'X-Accel-Mapping',
  'Cf-Visitor',
  'CloudFront-Forwarded-Proto',
  'Fly-Forwarded-Proto',
  'X-ARR-SSL',
  'X-Original-Path',
  'X-Original-Proto',
  'X-Original-Forwarded-Host',
  'X-Original-Request-URI',
  'X-Override-URL',
  'X-Override-Method',
  'X-Middleware-Rewrite',
  'X-Middleware-Request-Host',
  'X-Middleware-Override-Headers',
];
const ADDRESSES = [
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'Client-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'Fastly-Client-IP',
  'X-Azure-ClientIP',
  'Fly-Client-IP',
  'X-Appengine-User-IP',
  'X-ProxyUser-Ip',
  'X-Remote-Addr',
  'X-Originating-IP',
  'WL-Proxy-Client-IP',
  'DO-Connecting-IP',
  'X-Real-Client-IP',
  'X-Client-Real-IP',
  'CDN-Client-IP',
  'X-Vercel-Ip',
  'X-Vercel-Proxied-For',
  'X-EC-Client-IP',
  'X-FD-SocketIP',
  'Z-Forwarded-For',
  'Forwarded-For-IP',
  'X-IP',
  'CloudFront-Viewer-Address',
  'L5d-Remote-IP',
  '$WSRA',
  'X-Client-IP-Address',
  'X-Login-IP-Address',
  'X-RemoteAddr',
  'X-ClientAddress',
  'X-SourceIP',
  'X-ForwardedFor',
  'X-Original-Remote-Addr',
];
const IDENTITIES = [
  'X-Remote-User',
  'Remote-User',
  'X-SSL-Client-S-DN',
  'X-SSL-Client-Verify',
  'SSL-Client-Cert',
  'X-Client-Cert',
  'X-Client-Cert-Chain',
  'X-Forwarded-Client-Cert',
  'X-Forwarded-User',
  'X-Auth-Request-Email',
  'X-WEBAUTH-USER',
  'Client-Cert',
  'X-MTLS-Client-Cert',
  'X-mTLS-ClientCert',
  'X-SSL-Client',
  'Cf-Client-Cert-Der-Base64',
  'Cf-Cert-Verified',
  'X-WEBAUTH-EMAIL',
  'Impersonate-User',
  'Impersonate-Group',
  'Impersonate-Uid',
  'Impersonate-Extra-Scopes',
  'X-Kubernetes-User',
  'X-Remote-Extra-Scopes',
  'OAM_REMOTE_USER',
  'OIDC_id_token',
  'SM_USERDN',
  'X-AppEngine-User-Is-Admin',
  'X-Auth-CouchDB-UserName',
  'Tailscale-App-Capabilities',
  'L5d-Client-Id',
  'X-User-Id',
  'Kubeflow-UserId',
  'X-ProxiedEntitiesChain',
  'X-Scope-OrgID',
  'X-RH-Identity',
  'eppn',
  'X-UserId',
  'X-UserRole',
  'X-Auth-Role',
  'X-Remote-Role',
  'X-OIDC-Email',
  'X-JWT-Subject',
  'X-Consumer-Username',
  'X-Consumer-Custom-ID',
  'X-SSL-Verify',
  'X-SSL-Verified',
  'X-SSL-CN',
  'X-SSL-S-DN',
  'SSL-Verify',
  'X-Peer-Certificate',
  'X-TLS-Verified',
  'X-mTLS-Subject',
];
const DROPPED = [...OVERRIDES, ...ADDRESSES, ...IDENTITIES];
const CREDENTIALS = ['Proxy-Authorization', 'Proxy-Authenticate', 'Proxy-Authentication-Info', 'Proxy'];

/** Returns every spelling of a name that some servers treat as that name. */
function spellingsOf(name: string): string[] {
  const spellings = [name, name.toLowerCase(), name.toUpperCase()];
  const folded = ['_', '.', '!', '~'].flatMap((mark) => [name.replaceAll('-', mark), name.replace('-', mark)]);
  return [...new Set([...spellings, ...folded])];
}

let upstream: WireUpstream;
let gateway: TestGateway;
let response = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

beforeAll(async () => {
  upstream = await startWireUpstream(() => response);
  gateway = await startGateway(manifest(ROUTES, { up: upstream.url }));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Sends a request and returns the headers that the upstream receives. */
async function forwarded(path: string, ...headers: string[]): Promise<string[]> {
  const before = upstream.messages.length;
  expect((await sendRequest(gateway.port, head(`GET ${path} HTTP/1.1`, ...headers))).status).toBe(200);
  expect(upstream.messages.length).toBe(before + 1);
  return (upstream.messages[before]?.headers ?? []).map(([name, value]) => `${name}: ${value}`);
}

describe('a header with a similar name', () => {
  it.each([
    'X-Auth-Token',
    'X-User-Agent',
    'X-Zip',
    'Tooltip',
    'X-Client-Version',
    'X-Remote-Desktop',
    'X-SSL-Version',
    'X-Membership',
    'X-Auth-Email',
    'X-Middleware-Prefetch',
    'X-Original-Filename',
    'X-Original-Size',
    'X-Original-Content-Type',
    'X-Original-User-Agent',
    'X-Original-Request-Id',
    'X-Consumer-Key',
    'X-Override-Locale',
    'Oidc-Nonce',
    'X-Amz-Meta-Ip',
    'X-Device-IP',
  ])('passes: %s', async (name) => expect(await forwarded('/plain', `${name}: 1`)).toContain(`${name}: 1`));
});

describe('an override, address or identity header', () => {
  it.each([...DROPPED, ...CREDENTIALS])('is dropped in every spelling: %s', async (name) => {
    const sent = spellingsOf(name).map((spelling) => `${spelling}: evil`);
    const headers = await forwarded('/plain', 'X-Other: 1', ...sent, 'Accept: a');
    expect(headers.join('\n')).not.toContain('evil');
    expect(headers).toEqual(expect.arrayContaining(['X-Other: 1', 'Accept: a']));
  });

  it.each([OVERRIDES, ADDRESSES, [...IDENTITIES, ...CREDENTIALS]])(
    'is dropped from a WebSocket handshake: %s',
    async (...sent) => {
      const before = upstream.messages.length;
      const wire = await Wire.open(gateway.port);
      const names = sent.map((name) => `${name}: evil`);
      const key = [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ];
      wire.write(keepAliveHead('GET /plain HTTP/1.1', ...key, ...names));
      await wire.response();
      wire.end();
      expect(upstream.messages.length).toBe(before + 1);
      expect(upstream.messages[before]?.headers.flat()).toContain('Sec-WebSocket-Key');
      expect(upstream.messages[before]?.headers.flat()).not.toContain('evil');
    },
  );

  it('is forwarded unchanged only on a route that keeps it', async () => {
    const sent = [
      'X-HTTP-Method-Override: PUT',
      'X_Forwarded_Prefix: /a',
      'x-real-ip: 192.0.2.1',
      'X-Remote-User: a',
      'X-Original-URL: evil',
      'X-Rewrite-URL: evil',
    ];
    const headers = await forwarded('/kept', ...sent);
    expect(headers).toEqual(expect.arrayContaining(sent.slice(0, 4)));
    expect(headers).toContain('X-Rewrite-URL: /set');
    expect(headers.join('\n')).not.toContain('evil');
    expect((await forwarded('/plain', ...sent)).join('\n')).not.toMatch(/override|prefix|real|remote/i);
  });

  it.each(['Accept', 'X-Forwarded-For', 'X_Forwarded_Proto', 'Proxy-Authorization', 'Connection'])(
    'cannot be %s for a route that keeps it',
    async (name) => {
      const text = manifest(ROUTES.replace('x-forwarded-prefix', name), { up: upstream.url });
      await expect(startGateway(text)).rejects.toThrow(
        `"${name}" is not a header of those that "keep" can let through`,
      );
    },
  );
});

describe('proxy credentials', () => {
  it('are removed from responses', async () => {
    response = `HTTP/1.1 200 OK\r\nProxy-Authenticate: Basic\r\nProxy-Authentication-Info: a\r\nX-Other: 1\r\nContent-Length: 0\r\n\r\n`;
    const { headers } = await sendRequest(gateway.port, head('GET /plain HTTP/1.1'));
    const names = headers.map(([name]) => name);
    expect(names).toContain('X-Other');
    expect(names.filter((name) => /proxy/i.test(name))).toEqual([]);
  });
});
