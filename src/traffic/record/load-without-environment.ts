import { type LoadResult, load } from '../../engine/load.ts';
import type { Environment, Source } from '../../engine/manifest/source.ts';

/** Values that different keys of a manifest accept. */
const PLACEHOLDERS = [
  'https://placeholder.internal',
  'placeholder',
  '127.0.0.1:8080',
  '1',
  '1s',
  '1KB',
  '5 per 1m',
  'true',
  '/placeholder',
  '127.0.0.1',
  'ES256',
  'GET',
  'public',
  'rediss://placeholder.internal:6379',
  'a-placeholder-of-more-than-32-characters',
  '2099-12-31',
] as const;

/** Loads a manifest without the environment, whose values never appear in a test file. Variables without a default get placeholders. */
export function loadWithoutEnvironment(source: Source, createEnvironment: (env: Environment['env']) => Environment) {
  const names = new Set<string>();
  const recording = new Proxy<Record<string, string>>({}, { get: (_target, name) => void names.add(String(name)) });
  const tryLoad = (env: Record<string, string>) => load(source, createEnvironment(env));
  const unset = ({ findings }: LoadResult) => findings.filter(({ rule }) => rule === 'environment').length;
  const plain = load(source, createEnvironment(recording));
  if (plain.plan !== undefined || unset(plain) === 0) return { loaded: plain, environment: {} };
  const errors = ({ findings }: LoadResult) => findings.filter(({ severity }) => severity === 'error').length;
  const missing = [...names].filter((name) => unset(tryLoad({ [name]: PLACEHOLDERS[0] })) < unset(plain));
  let environment: Record<string, string> = Object.fromEntries(missing.map((name) => [name, PLACEHOLDERS[0]]));
  let loaded = tryLoad(environment);
  for (const name of missing)
    for (const value of PLACEHOLDERS) {
      if (loaded.plan !== undefined) return { loaded, environment };
      const changed = { ...environment, [name]: value };
      const result = tryLoad(changed);
      if (errors(result) >= errors(loaded)) continue;
      [environment, loaded] = [changed, result];
    }
  return loaded.plan === undefined ? { loaded: plain, environment: {} } : { loaded, environment };
}
