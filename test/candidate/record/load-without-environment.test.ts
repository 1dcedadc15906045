import { describe, expect, it } from 'vitest';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import { loadWithoutEnvironment } from '../../../src/traffic/record/load-without-environment.ts';

const loadText = (text: string) =>
  loadWithoutEnvironment({ path: 'gateway.yaml', text }, (env) => ({ ...createMemoryEnvironment(), env }));

const manifest = (url: string, listen: string, timeout = '5s') => `version: 1
listen: ${listen}
upstreams: { up: { url: '${url}', timeouts: { response: '${timeout}' } } }
routes: [{ id: a, method: GET, path: /a, upstream: up, access: public }]
`;

describe('a manifest without the environment of the process', () => {
  it('has the defaults of its variables', () => {
    const { loaded, environment } = loadText(manifest('${UP:-http://up.internal}', '127.0.0.1:80'));
    expect(loaded.plan?.upstreams[0]?.endpoints[0]?.url.host).toBe('up.internal');
    expect(environment).toEqual({});
  });

  it('has placeholders for variables without a default, each of the kind that its key needs', () => {
    const { loaded, environment } = loadText(manifest('${UP}', '${LISTEN}', '${TIMEOUT}'));
    expect(loaded.problems).toEqual([]);
    expect(environment).toEqual({
      UP: 'https://placeholder.internal',
      LISTEN: '127.0.0.1:8080',
      TIMEOUT: '1s',
    });
  });

  it('has its own problems if no placeholder helps', () => {
    const { loaded, environment } = loadText(`${manifest('${UP}', '127.0.0.1:80')}unknown: 1\n`);
    expect(loaded.plan).toBeUndefined();
    expect(environment).toEqual({});
  });
});
