import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { substitute } from '../../src/engine/manifest/substitute.ts';
import { anyCharacter } from '../support/any-character.ts';
import { runs } from '../support/runs.ts';
import { AUTH, bodyRoute, formatProblem, loadText, manifestOf, problemOf, ROUTE } from './support.ts';

const value = (text: string, env: Record<string, string | undefined> = {}) => substitute(text, { env }).value;

describe('a variable in a value', () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    ['${NAME}', { NAME: 'a' }, 'a'],
    ['${NAME:-b}', { NAME: 'a' }, 'a'],
    ['${NAME:-b}', {}, 'b'],
    ['${NAME:-b}', { NAME: '' }, 'b'],
    ['${NAME:-}', {}, ''],
    ['${NAME:-a:-b}', {}, 'a:-b'],
    ['${NAME:-http://127.0.0.1:80/?a=$b}', {}, 'http://127.0.0.1:80/?a=$b'],
    ['${A}-${B}${A}', { A: '1', B: '2' }, '1-21'],
    ['http://${HOST:-localhost}:${PORT:-80}', { PORT: '81' }, 'http://localhost:81'],
    ['$${NAME}', { NAME: 'a' }, '${NAME}'],
    ['$$${NAME}', { NAME: 'a' }, '$${NAME}'],
    ['$${A}${A}', { A: '1' }, '${A}1'],
    ['$NAME $ {} {NAME}', { NAME: 'a' }, '$NAME $ {} {NAME}'],
    ['${A}', { A: '${B}', B: 'no' }, '${B}'],
    ['${A}', { A: '$&$1$$' }, '$&$1$$'],
    ['${_9}', { _9: 'a' }, 'a'],
  ])('%s with %o is %s', (text, env, expected) => {
    const { value: result, findings } = substitute(text, { env });
    expect(findings).toEqual([]);
    expect(result).toBe(expected);
  });

  test.each(['${', '${}', '${9A}', '${A', '${A-b}', '${A:b}', '${ A }', '${A:-{}}', 'a ${b c}', '${a.b}'])(
    '%s is an error',
    (text) => {
      const { findings } = substitute(text, { env: { A: 'x' } });
      expect(findings.map(({ message }) => message)).toEqual([
        'this "${" does not begin a variable; write ${NAME}, ${NAME:-default}, ${file:/run/secrets/NAME}, or "$${" for the characters themselves',
      ]);
    },
  );

  test.each([[{}], [{ NAME: '' }], [{ NAME: undefined }], [Object.create({ OTHER: 'x' })]])(
    'an unset variable is an error: %o',
    (env) => {
      expect(substitute('${NAME}', { env }).findings.map(({ message }) => message)).toEqual([
        'the environment variable NAME is not set; set it, or write a default: ${NAME:-…}',
      ]);
    },
  );

  test('two unset variables in one value are both reported', () => {
    expect(substitute(['${A}${B}'], { env: {} }).findings.map(({ location }) => location)).toEqual([
      { path: [0], at: 'value' },
      { path: [0], at: 'value' },
    ]);
    const { problems } = loadText(manifestOf('listen: ${HOST}:${PORT}\n'));
    expect(problems.map(formatProblem)).toEqual([
      expect.stringMatching('^4:9 the environment variable HOST is not set'),
      expect.stringMatching('^4:9 the environment variable PORT is not set'),
    ]);
  });

  test('keys and values that are not strings stay the same', () => {
    expect(substitute({ '${A}': 1, b: true, c: null }, { env: { A: 'x' } }).value).toEqual({
      '${A}': 1,
      b: true,
      c: null,
    });
  });

  test('any text without "${" stays the same', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => text.includes('${') || value(text) === text));
  });

  test('any value is substituted completely, as a text', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: anyCharacter }),
        (text) => value('<${A}>', { A: text }) === `<${text}>`,
      ),
    );
  });
});

describe('a value from the environment cannot change the structure', () => {
  test.each([
    'no\nroutes: []',
    '", admin: "127.0.0.1:1',
    "' }\n#",
    '{ a: b }',
    '[a, b]',
    '*contacts',
    '&a !tag x',
    'a: b',
    '~',
    'true',
    '1',
  ])('%j', (secret) => {
    const text = manifestOf(AUTH.replace('allow: [admin, user]', 'allow: [admin, "${ROLE}"]'));
    const { plan } = loadText(text, { ROLE: secret });
    expect(plan?.auth?.role.required).toEqual(['admin', secret]);
    expect(plan?.routes).toHaveLength(1);
  });

  test.each([
    ['4', 4],
    ['64', 64],
    ['auto', 'auto'],
  ])('the number of workers may be %s', (text, workers) => {
    const { plan, problems } = loadText(manifestOf('server: { workers: "${WORKERS}" }\n'), { WORKERS: text });
    expect([problems, plan?.server.workers]).toEqual([[], workers]);
  });

  test.each(['0', '65', '04', '1.5', '-1', ' 2', '2 ', '1e1', '0x2', '٣', 'Auto', 'auto\n', 'two', 'true'])(
    'the number of workers is refused if it is %j',
    (text) => {
      expect(problemOf(manifestOf('server: { workers: "${WORKERS}" }\n'), { WORKERS: text })).toBe(
        '4:20 the value from the environment is not auto or a whole number from 1 to 64; write for example 2 or auto',
      );
    },
  );

  test('a number stays a string, and is refused where a number is required', () => {
    expect(problemOf(manifestOf().replace('version: 1', 'version: ${V}'), { V: '1' })).toBe(
      '1:10 the value from the environment is not supported here; write 1',
    );
  });
});

describe('a value from the environment is never printed', () => {
  const SECRET = 's3cr3t';
  const JWT = /jwt: .*/.exec(AUTH)?.[0] ?? '';
  const above = (text: string) => manifestOf(text);
  const route = (from: string, to: string) => manifestOf('', ROUTE.replace(from, to));
  const auth = (from: string, to: string) => manifestOf(AUTH.replace(from, to));
  const schema = (text: string) => manifestOf('', bodyRoute(text));

  test.each<[string, string, string]>([
    ['version', manifestOf().replace('version: 1', 'version: ${X}'), SECRET],
    ['address', above('listen: ${X}\n'), SECRET],
    ['port', above('listen: 127.0.0.1:${X}\n'), '77777'],
    ['admin port', above('admin: ${X}\n'), '127.0.0.1:77777'],
    ['admin address', above('admin: ${X}\n'), `${SECRET}:1`],
    ['admin token', above('admin: { listen: 127.0.0.1:1, token: "${X}" }\n'), SECRET],
    ['upstream URL', manifestOf().replace('http://127.0.0.1:7002', '"${X}"'), `http://u:${SECRET}@a`],
    [
      'upstream URL that does not parse',
      manifestOf()
        .replace('7002', '${X}')
        .replace(/(http\S+)/, '"$1"'),
      '77777',
    ],
    [
      'part of an upstream URL',
      manifestOf()
        .replace('127.0.0.1', 'u:${X}@a')
        .replace(/(http\S+)/, '"$1"'),
      SECRET,
    ],
    ['number of workers', above('server: { workers: "${X}" }\n'), '7777'],
    ['duration', manifestOf().replace('7002 }', '7002, timeouts: { idle: "${X}" } }'), SECRET],
    ['jwks file', auth('http://127.0.0.1:9/jwks.json', '"${X}"'), `./${SECRET}.json`],
    ['algorithm', auth('ES256', '"${X}"'), SECRET],
    [
      'secret that is too short',
      auth('jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256]', 'secret: "${X}", algorithms: [HS256]'),
      SECRET,
    ],
    ['issuer to discover', auth('jwks: http://127.0.0.1:9/jwks.json', 'discovery: "${X}"'), `http://${SECRET}.test`],
    ['inline key', auth('http://127.0.0.1:9/jwks.json', '{ keys: [{ kty: EC, crv: P-256, x: "${X}" }] }'), SECRET],
    [
      'introspection endpoint',
      auth(JWT, 'introspection: { endpoint: "${X}", clientId: a, clientSecret: "${X}" }'),
      `https://[${SECRET}]`,
    ],
    ['upstream of an endpoint', auth(JWT, 'userinfo: { endpoint: { upstream: "${X}", path: /me } }'), SECRET],
    ['path of an endpoint', auth(JWT, 'userinfo: { endpoint: { upstream: contacts, path: "${X}" } }'), SECRET],
    ['claim', auth('/company_role', '"${X}"'), SECRET],
    ['role twice', auth('[admin, user]', '["${X}", "${X}"]'), SECRET],
    ['route id', route('id: contacts', 'id: "${X}"'), `${SECRET}!`],
    [
      'route id twice',
      manifestOf(
        '',
        ROUTE.replace('id: contacts', 'id: "${X}"') + ROUTE.replace('id: contacts', 'id: "${X}"').replace('/api', '/b'),
      ),
      SECRET,
    ],
    [
      'id of the other route',
      manifestOf(
        '',
        ROUTE.replace('id: contacts', `id: ${SECRET}`) +
          ROUTE.replace('id: contacts', 'id: "${X}"').replace('/api', '/b'),
      ),
      SECRET,
    ],
    ['method', route('POST', '"${X}"'), SECRET],
    ['path', route('/api/contacts', '"${X}"'), SECRET],
    ['query of a path', route('/api/contacts', '"${X}"'), `/${SECRET}?`],
    ['slash of a path', route('/api/contacts', '"${X}"'), `/${SECRET}/`],
    ['segment of a path', route('/api/contacts', '"/a/${X}"'), `${SECRET}*`],
    ['escape of a path', route('/api/contacts', '"/a/${X}"'), '%61'],
    ['broken escape of a path', route('/api/contacts', '"/a/${X}"'), `${SECRET}%FF`],
    ['parameter of a path', route('/api/contacts', '"/a/${X}"'), `:${SECRET}`],
    ['parameter of a path twice', route('/api/contacts', '"/{${X}}/{${X}}"'), SECRET],
    [
      'path of an equal route',
      manifestOf(
        '',
        ROUTE.replace('/api/contacts', '"/${X}"') +
          ROUTE.replace('id: contacts', 'id: other').replace('/api/contacts', '"/${X}"'),
      ),
      SECRET,
    ],
    [
      'path of the other equal route',
      manifestOf(
        '',
        ROUTE.replace('/api/contacts', '"/{${X}}"') +
          ROUTE.replace('id: contacts', 'id: other').replace('/api/contacts', '"/{b}"'),
      ),
      SECRET,
    ],
    ['upstream of a route', route('upstream: contacts', 'upstream: "${X}"'), SECRET],
    ['upstream near to a name', route('upstream: contacts', 'upstream: "${X}"'), 'contactz'],
    ['access', route('public', '"${X}"'), SECRET],
    ['size', manifestOf('', ROUTE.replace(' }', ', body: { maxBytes: "${X}" } }')), SECRET],
    ['login pointer', manifestOf(AUTH, ROUTE.replace(' }', ', login: { token: "${X}" } }')), SECRET],
    ['schema reference outside', schema('{ $ref: "${X}" }'), `http://${SECRET}`],
    ['schema reference', schema('{ $ref: "#/schemas/${X}" }'), SECRET],
    ['schema pattern', schema('{ pattern: "${X}" }'), `(?=${SECRET})`],
    ['broken schema pattern', schema('{ pattern: "${X}" }'), `(${SECRET}`],
    ['schema format', schema('{ format: "${X}" }'), SECRET],
    ['schema type', schema('{ type: "${X}" }'), SECRET],
    ['schema dialect', schema('{ $schema: "${X}" }'), SECRET],
    ['schema anchor', schema('{ $anchor: "${X}" }'), SECRET],
    ['schema required', schema('{ required: "${X}" }'), SECRET],
    [
      'shared schema',
      manifestOf('schemas: { A: { properties: { a: { format: "${X}" } } } }\n', bodyRoute(`{ $ref: '#/schemas/A' }`)),
      SECRET,
    ],
    ['a string in place of a schema', above('schemas: { A: "${X}" }\n'), SECRET],
    ['a string in place of a map', above('auth: "${X}"\n'), SECRET],
  ])('%s', (_name, text, secret) => {
    const { plan, problems } = loadText(text, { X: secret });
    expect(plan).toBeUndefined();
    expect(problems.length).toBeGreaterThan(0);
    for (const { message, related } of problems) expect(`${message} ${related?.message}`).not.toContain(secret);
  });

  test('from any location of a manifest', () => {
    const text = `version: 1
listen: 127.0.0.1:0
upstreams:
  contacts: { url: http://127.0.0.1:7002, timeouts: { idle: 5s } }
${AUTH}schemas:
  A: { type: object, properties: { a: { type: string, pattern: a, format: email, $ref: '#/schemas/B' } } }
  B: true
routes:
${ROUTE}${ROUTE.replace('id: contacts', 'id: other').replace('/api', '/b').replace(' }', ', login: { token: /a }, body: { maxBytes: 1KB } }')}`;
    const scalars = [...text.matchAll(/(?<=[[:,] )['\w#/.:-]+(?=[ ,\]}\n])|(?<=\[)\w+/g)].filter(
      ([word]) => !word.endsWith(':'),
    );
    expect(scalars.length).toBeGreaterThan(25);
    const marked = fc.tuple(
      fc.nat(scalars.length - 1),
      fc.constantFrom('', '/', ':', '#/schemas/', '(', '{', '*', 'http://'),
    );
    fc.assert(
      fc.property(marked, ([index, before]) => {
        const { index: at, 0: word } = scalars[index] as RegExpExecArray;
        const changed = `${text.slice(0, at)}"\${X}"${text.slice(at + word.length)}`;
        const { problems } = loadText(changed, { X: `${before}S3CR3T` });
        return problems.every(({ message }) => !message.includes('S3CR3T'));
      }),
      { numRuns: runs(300) },
    );
  });

  test('a default is printed, because it is in the file', () => {
    expect(problemOf(manifestOf('listen: ${X:-nowhere}\n'))).toContain('"nowhere" is not an address');
  });
});

describe('an error of the compiler about a value from the environment', () => {
  const problemsOf = (above: string, env: Record<string, string>) =>
    loadText(manifestOf(above), env).problems.map(({ rule, message }) => `${rule} ${message}`);

  test('names the variable, the reason and the fix, but not the value', () => {
    expect(problemsOf("admin: { listen: 127.0.0.1:0, token: '${ADMIN_TOKEN}' }\n", { ADMIN_TOKEN: 'short' })).toEqual([
      'admin-token the value of ${ADMIN_TOKEN} is not valid: a token of fewer than 16 characters can be guessed; set a longer one, such as the output of "openssl rand -hex 32"',
    ]);
    expect(problemsOf("listen: '${HOST}:${PORT}'\n", { HOST: '999.1.1.1', PORT: '80' })).toEqual([
      'address the value of ${HOST} and ${PORT} is not valid: this is not an IPv4 address, which is four numbers from 0 to 255; write for example 127.0.0.1:8080 or [::1]:8080',
    ]);
    expect(
      problemsOf("server: { tls: { certificate: '${CERT}', key: '${KEY}' } }\n", { CERT: 'place', KEY: 'place' }),
    ).toEqual(
      ['CERT', 'KEY'].map(
        (name) =>
          `tls the value of \${${name}} is not valid: the file cannot be read: it does not exist; write a path relative to the manifest`,
      ),
    );
  });

  test('hides a reason that would quote the value', () => {
    expect(problemsOf("cors: { origins: ['${ORIGIN}'] }\n", { ORIGIN: 'https://hidden.example/' })).toEqual([
      'cors-origin the value of ${ORIGIN} breaks the rule cors-origin, and the reason would quote the value; correct the variable, and see: signing-gateway lint --explain cors-origin',
    ]);
  });
});
