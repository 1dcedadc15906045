import { describe, expect, it } from 'vitest';
import { redactManifestText } from '../../src/problem/secret-text.ts';

const SECRET = 'sentinel7f3a9c21';
const DOTS = '•'.repeat(SECRET.length);

describe('the displayed text of a manifest', () => {
  it.each([
    `X-Api-Key: ${SECRET}`,
    `x-token: "${SECRET}"`,
    `{ "Authorization": "${SECRET}" }`,
    `{ set: { Client-Secret: ${SECRET}, other: 1 } }`,
    `  token: ${SECRET}`,
    `password: '${SECRET}'`,
    `url: http://ann:${SECRET}@host/`,
    `value: Bearer ${SECRET}`,
    `secret: \${API_TOKEN:-${SECRET}}`,
    `url: \${UP}?a=\${DB_PASSWORD:-${SECRET}}`,
    `key: |\n  -----BEGIN PRIVATE KEY-----\n  ${SECRET}\n  -----END PRIVATE KEY-----`,
  ])('has no secret: %s', (text) => {
    const redacted = redactManifestText(text);
    expect(redacted).not.toContain(SECRET);
    expect(redacted.split('\n').map((line) => line.length)).toEqual(text.split('\n').map((line) => line.length));
  });

  it('keeps everything else', () => {
    const text = `admin: { token: \${ADMIN_TOKEN} }
upstreams: { up: { url: '\${UP:-http://127.0.0.1:9}' } } # a key: nothing
auth:
  tokens:
    jwt: { jwks: 'http://host/jwks', issuer: a }
key: ./admin.key
issuer: \${TOKEN_ISSUER:-https://issuer.example}
login: { token: /access_token }
`;
    expect(redactManifestText(text)).toBe(text);
    expect(redactManifestText(`{ token: ${SECRET}, other: 1 }`)).toBe(`{ token: ${DOTS}, other: 1 }`);
  });
});
