import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Document, isScalar, type Scalar, visit } from 'yaml';
import { findSecretRanges } from '../../src/admin/secret-ranges.ts';
import { joinRanges, redactRanges } from '../../src/check/lint/secret-text.ts';
import { parseText } from '../../src/engine/manifest/document.ts';
import '../support/seed.ts';
import { runs } from '../support/runs.ts';

const SECRET = 'sentinel7f3a9c21';
const DOTS = '•'.repeat(SECRET.length);

const redact = (text: string) => redactRanges(text, joinRanges(findSecretRanges(text, parseText(text))));

describe('the displayed text of a manifest', () => {
  it.each([
    `X-Api-Key: ${SECRET}`,
    `x-token: "${SECRET}"`,
    `{ "Authorization": "${SECRET}" }`,
    `{ set: { Client-Secret: ${SECRET}, other: 1 } }`,
    `  token: ${SECRET}`,
    `password: '${SECRET}'`,
    `tokens: [${SECRET}, "${SECRET}"]`,
    `tokens:\n  - ${SECRET}\n  - '${SECRET}'`,
    `? token\n: ${SECRET}`,
    `token:\n  ${SECRET}`,
    `token:\n  # the comment before a value\n  ${SECRET}`,
    `token: |\n  ${SECRET}\n  more`,
    `token: >-\n  some\n  ${SECRET}`,
    `"to\\u006ben": ${SECRET}`,
    `other: &a ${SECRET}\ntoken: *a`,
    `token: &a ${SECRET}\nother: *a`,
    `properties: { password: { type: string, default: ${SECRET}, examples: [${SECRET}] } }`,
    `signingKey: ${SECRET}`,
    `token: '${SECRET}\${SUFFIX}'`,
    `token: \${ANY:-${SECRET}}`,
    `Authorization: 'Bearer \${ANY:-${SECRET}}'`,
    `url: http://ann:${SECRET}@host/`,
    `url: "http:\\/\\/ann:${SECRET}@host/"`,
    `value: Bearer ${SECRET}`,
    `value: "Bearer\\x20${SECRET}"`,
    `value: "Bearer\n  ${SECRET}"`,
    `secret: \${API_TOKEN:-${SECRET}}`,
    `url: \${UP}?a=\${DB_PASSWORD:-${SECRET}}`,
    `key: |\n  -----BEGIN PRIVATE KEY-----\n  ${SECRET}\n  -----END PRIVATE KEY-----`,
    `a: 1 # token: ${SECRET}`,
    `# http://ann:${SECRET}@host/`,
    `token: ${SECRET}\nbroken: [`,
    `token: "${SECRET}"\n\tbroken: 1`,
    `token: ${SECRET}\n---\nsecond: document`,
    `token: |\n  ${SECRET}\nbroken: [`,
    `tokens:\n  - ${SECRET}\nbroken: [`,
    `token:\n  ${SECRET}\nbroken: [`,
    `\uFEFFtoken: ${SECRET}`,
    `a: 😀\ntoken: ${SECRET}\r\nb: 1\r\n`,
  ])('has no secret: %j', (text) => {
    const redacted = redact(text);
    expect(redacted).not.toContain(SECRET);
    expect(redacted.split('\n').map((line) => line.length)).toEqual(text.split('\n').map((line) => line.length));
  });

  it('has no number whose key is named like a secret', () => {
    expect(redact('password: 12345678\nport: 12345678')).toBe('password: ••••••••\nport: 12345678');
  });

  it('keeps everything else', () => {
    const text = `admin: { token: '\${ADMIN_TOKEN}' }
upstreams: { up: { url: '\${UP:-http://127.0.0.1:9}' } } # a key: nothing
auth:
  tokens:
    jwt: { jwks: 'http://host/jwks', issuer: a }
key: ./admin.key
issuer: \${TOKEN_ISSUER:-https://issuer.example}
login: { token: /access_token }
cors: { credentials: true, exposedHeaders: [Authorization, X-Token] }
message: 'the token: is not valid, password: neither'
requestHeaders: { set: { Authorization: 'Bearer \${SERVICE_TOKEN}' } }
schemas: { Login: { required: [password], properties: { password: { type: string, maxLength: 72 } } } }
`;
    expect(redact(text)).toBe(text);
    expect(redact(`{ token: ${SECRET}, other: 1 }`)).toBe(`{ token: ${DOTS}, other: 1 }`);
  });

  it('keeps references and JSON Pointers in a text that is not valid', () => {
    const text =
      'admin: { token: ${ADMIN_TOKEN} }\nlogin: { token: /access_token }\nissuer: ${ISSUER:-https://issuer}\n';
    expect(parseText(text).findings).not.toEqual([]);
    expect(redact(text)).toBe(text);
  });

  it('is redacted in any part as in the complete text', () => {
    const text = `a: 1\ntoken: ${SECRET}\nb: http://x:${SECRET}@host/\ntoken2: &t ${SECRET}\nlast-token: *t\n`;
    const secrets = joinRanges(findSecretRanges(text, parseText(text)));
    const redacted = redactRanges(text, secrets);
    expect(redacted).not.toContain(SECRET);
    for (let from = 0; from <= text.length; from += 1)
      for (let to = from; to <= text.length; to += 1)
        expect(redactRanges(text, secrets, from, to)).toBe(redacted.slice(from, to));
  });
});

const SECRET_KEYS = ['token', 'password', 'X-Api-Key', 'Authorization', 'client-secret', 'credentials', 'tokens'];
const OTHER_KEYS = ['id', 'path', 'tokenName', 'key', 'message', 'issuer'];
const STYLES = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const;

interface Tree {
  readonly [key: string]: Tree | null | readonly null[];
}

const { TREE } = fc.letrec<{ TREE: Tree }>((tie) => ({
  TREE: fc.dictionary(
    fc.constantFrom(...SECRET_KEYS, ...OTHER_KEYS),
    fc.oneof(
      { maxDepth: 3 },
      fc.constant(null),
      fc.array(fc.constant(null), { minLength: 1, maxLength: 3 }),
      tie('TREE'),
    ),
    { maxKeys: 4 },
  ),
}));

/** Sets a text at each leaf: one that is hidden if the next key above is secret. */
function fill(tree: Tree | null | readonly null[], key: string, texts: string[]): unknown {
  if (tree === null) {
    texts.push(
      `${SECRET_KEYS.includes(key) ? 'hidden' : 'shown'} ${texts.length} `.repeat(2).trim().replaceAll(' ', '_'),
    );
    return texts.at(-1);
  }
  if (Array.isArray(tree)) return tree.map(() => fill(null, key, texts));
  return Object.fromEntries(Object.entries(tree as Tree).map(([name, member]) => [name, fill(member, name, texts)]));
}

describe('the displayed text of a random manifest', () => {
  it('hides the values of secret keys, in any style, and nothing else', () => {
    fc.assert(
      fc.property(TREE, fc.infiniteStream(fc.nat(9)), fc.constantFrom('\n', '\r\n'), (tree, choices, lineBreak) => {
        const texts: string[] = [];
        const next = () => choices.next().value;
        const document = new Document(fill(tree, '', texts));
        visit(document, {
          Scalar(key, node) {
            if (key !== 'key') (node as Scalar).type = STYLES[next() % STYLES.length] ?? 'PLAIN';
          },
          Collection(_key, node) {
            node.flow = next() < 3;
          },
          Pair(_key, { key }) {
            if (isScalar(key) && next() < 2) key.type = 'QUOTE_DOUBLE';
          },
        });
        const text = document.toString({ lineWidth: 0 }).replaceAll('\n', lineBreak);
        const redacted = redact(text);
        expect(texts.filter((written) => redacted.includes(written))).toEqual(
          texts.filter((written) => written.startsWith('shown')),
        );
        expect([...redacted].every((character, index) => character === '•' || character === text[index])).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
