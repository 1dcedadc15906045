import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { sha256 } from '../../src/engine/manifest/dependencies.ts';
import { createFileEnvironment, createSecretReader } from '../../src/engine/manifest/source.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { createDiffSide } from '../../src/prove/diff/side.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { AUTH, formatProblem, loadText, manifestOf, ROUTE } from './support.ts';

const NAMED = "requestHeaders: { set: { X-Key: 'Bearer ${file:SECRET}' } }";
const withHeader = (path: string) =>
  manifestOf(
    '',
    ROUTE.replace(' }', () => `, ${NAMED.replace('SECRET', () => path)} }`),
  );

describe('a secret file', () => {
  const root = temporaryFolder('secret-files');
  const folder = join(root, 'secrets');
  mkdirSync(folder);
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  function loaded(path: string) {
    const environment = createFileEnvironment(join(root, 'gateway.yaml'), {}, {}, folder);
    return load({ path: 'gateway.yaml', text: withHeader(path) }, environment);
  }

  const headerOf = (path: string) => {
    const { plan, problems } = loaded(path);
    expect(problems.map(formatProblem)).toEqual([]);
    return plan?.routes[0]?.requestHeaders?.set;
  };

  it.each([
    ['a line break', 'one\n'],
    ['a line break of Windows', 'one\r\n'],
    ['no line break', 'one'],
  ])('is read without %s at its end', (_name, content) => {
    expect(headerOf(write('value', content))).toEqual(['X-Key', 'Bearer one']);
  });

  it('keeps all but the last line break', () => {
    const read = createSecretReader(folder);
    expect(read?.(write('lines', ' a\nb \n\n'))).toBe(' a\nb \n');
  });

  it('may be a link inside of the folder, as Kubernetes mounts it', () => {
    mkdirSync(join(folder, '..one'));
    writeFileSync(join(folder, '..one', 'key'), 'linked\n');
    symlinkSync('..one', join(folder, '..data'));
    symlinkSync('..data/key', join(folder, 'key'));
    expect(headerOf(join(folder, 'key'))).toEqual(['X-Key', 'Bearer linked']);
  });

  it('may have 64 kB', () => {
    expect(createSecretReader(folder)(write('most', 'x'.repeat(65_536)))).toHaveLength(65_536);
  });

  it('is never in a problem or a message', () => {
    const { problems, sources, secretFiles } = loaded(write('broken', 'hidden-value\u0001\n'));
    expect(problems.map(({ rule }) => rule)).toEqual(['header']);
    expect(JSON.stringify([problems, sources, [...secretFiles]])).not.toContain('hidden-value');
  });

  it('is a dependency', () => {
    const path = write('value', 'one\n');
    expect([...loaded(path).secretFiles.keys()]).toEqual([path]);
    expect([...loaded(path).files.keys()]).toEqual([]);
  });

  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  mkdirSync(join(folder, 'inner'));
  symlinkSync('loop', join(folder, 'loop'));
  writeFileSync(join(root, 'outside'), 'other');
  symlinkSync(join(root, 'outside'), join(folder, 'to-outside'));
  mkdirSync(join(root, 'secrets-of-others'));
  writeFileSync(join(root, 'secrets-of-others', 'value'), 'other');
  it.each([
    ['that does not exist', join(folder, 'none'), 'it does not exist; create it, or correct the path'],
    ['that is a pipe', fifo, 'it is a pipe or a device; name a regular file'],
    ['that is a device', '/dev/null', 'it is not in the folder of secrets; '],
    ['that is a folder', join(folder, 'inner'), 'it is a folder; name a file in it'],
    ['in a circle of links', join(folder, 'loop'), 'its symbolic links form a circle; correct the links'],
    ['behind a link to the outside', join(folder, 'to-outside'), 'it is not in the folder of secrets; '],
    ['outside of the folder', join(root, 'outside'), 'it is not in the folder of secrets; '],
    ['above the folder', `${folder}/../outside`, 'it is not in the folder of secrets; '],
    ['in a folder with a longer name', `${root}/secrets-of-others/value`, 'it is not in the folder of secrets; '],
    ['that is empty', write('empty', ''), 'it is empty; write the secret into it'],
    ['with only a line break', write('break', '\n'), 'it is empty; write the secret into it'],
    ['with more than 64 kB', write('large', 'x'.repeat(65_537)), 'it has more than 65536 bytes; '],
    ['that is not UTF-8', write('bytes', Buffer.from([0x61, 0xff])), 'it is not UTF-8 text; '],
  ])('%s is a problem', (_name, path, reason) => {
    const { plan, problems } = loaded(path);
    expect(plan).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message.startsWith(`the secret "${path}" cannot be read: ${reason}`)).toBe(true);
  });

  it.runIf(process.getuid?.() !== 0)('without permission to read it is a problem', () => {
    const path = write('closed', 'x');
    chmodSync(path, 0);
    expect(loaded(path).problems[0]?.message).toContain('its permissions do not allow it');
  });

  it('outside of a folder of secrets that does not exist is a problem', () => {
    expect(() => createSecretReader(join(root, 'none'))(write('value', 'x'))).toThrow('outside');
  });
});

describe('a secret file that is not read', () => {
  const MANY = manifestOf(
    `admin: { listen: 127.0.0.1:9901, token: '\${file:/run/secrets/admin}' }
log: { paths: keyed, secret: '\${file:/run/secrets/log}' }
auth:
  tokens:
    introspection: { endpoint: 'http://127.0.0.1:9/check', clientId: '\${file:/run/secrets/id}', clientSecret: '\${file:/run/secrets/oauth}' }
  role: { claim: /role, allow: [admin], message: no }
stores:
  one: { redis: 'redis://:\${file:/run/secrets/redis}@127.0.0.1:6379', secret: '\${file:/run/secrets/store}' }
  two: { redis: { url: 'redis://127.0.0.1:6379', username: '\${file:/run/secrets/user}', password: '\${file:/run/secrets/redis}' }, secret: '\${file:/run/secrets/store}' }
defaults: { requestHeaders: { set: { X-Key: '\${file:/run/secrets/key}' } } }
`,
  );

  it('has an unknown value, with which the manifest loads', () => {
    const { plan, problems, secretFiles } = loadText(MANY);
    expect(problems.map(formatProblem)).toEqual([]);
    expect(plan?.routes[0]?.requestHeaders?.set).toEqual(['X-Key', '${file:/run/secrets/key}']);
    expect(secretFiles.size).toBe(0);
  });

  it('has a value that nobody can compute from the reference', () => {
    const { manifest } = loadText(MANY) as ReturnType<typeof loadText> & { manifest: { admin: { token: string } } };
    const reference = '${file:/run/secrets/admin}';
    expect(manifest.admin.token).toMatch(/^[0-9a-f]{64}$/);
    expect(manifest.admin.token).not.toBe(sha256(reference));
  });

  it.each([256, 384, 512])('is long enough for HS%i', (bits) => {
    const auth = AUTH.replace('jwks: http://127.0.0.1:9/jwks.json', "secret: '${file:/run/secrets/jwt}'");
    expect(loadText(manifestOf(auth.replace('ES256', `HS${bits}`))).problems.map(formatProblem)).toEqual([]);
  });

  it('is printed as the name of the file', () => {
    const { secrets, manifest } = loadText(MANY) as ReturnType<typeof loadText> & { manifest: { admin: unknown } };
    expect(secrets.redactValue(manifest.admin, ['admin'])).toMatchObject({ token: '${file:/run/secrets/admin}' });
  });

  it('differs only from another file', () => {
    const sideOf = (path: string) => {
      const planned = loadText(withHeader(path));
      if (planned.plan === undefined) throw new Error('the manifest does not load');
      return createDiffSide(planned, () => '');
    };
    expect(diff(sideOf('/run/secrets/a'), sideOf('/run/secrets/a'))).toEqual([]);
    expect(diff(sideOf('/run/secrets/a'), sideOf('/run/secrets/b')).map(({ rule }) => rule)).toEqual([
      'headers-changed',
    ]);
  });

  it.each([
    ["listen: '${file:/run/secrets/a}'\n"],
    ["server: { responseHeaders: { X-Key: '${file:/run/secrets/a}' } }\n"],
    ["cors: { origins: ['${file:/run/secrets/a}'] }\n"],
    ["stores: { a: { redis: '${file:/run/secrets/a}', secret: '${file:/run/secrets/a}' } }\n"],
    [`${AUTH.replace('jwks: http://127.0.0.1:9/jwks.json', "jwks: '${file:/run/secrets/a}'")}`],
  ])('cannot be at another key: %s', (above) => {
    expect(loadText(manifestOf(above)).problems.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^a file may only have a secret, /),
    );
  });

  it.each(['${file:}', '${file:oauth}', '${file:./a}', '${file:/a:-b}', '${file: /a}'])(
    'is not named by %s',
    (text) => {
      const route = ROUTE.replace(' }', () => `, requestHeaders: { set: { X-Key: '${text}' } } }`);
      expect(loadText(manifestOf('', route)).problems.map(({ message }) => message)).toEqual([
        expect.stringContaining('this "${" does not begin a variable'),
      ]);
    },
  );
});
