import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Secrets } from '../manifest/secrets.ts';
import type { Plan } from '../plan/plan.ts';
import type { Received } from './recording-upstream.ts';

interface Planned {
  readonly plan: Plan;
  readonly manifest: Manifest;
  readonly secrets: Secrets;
}

/** The address of a request to an upstream as it may be printed: its origin and a prefix of its path may come from the environment. */
export function shownUrl(
  { plan, manifest, secrets }: Planned,
  route: string | undefined,
  { origin, url }: Pick<Received, 'origin' | 'url'>,
): { readonly origin: string; readonly path: string } {
  const index = plan.routes.findIndex(({ id }) => id === route);
  const target = plan.routes[index]?.upstream.targets.find((target) => target.url.origin === origin);
  const prefix = manifest.routes[index]?.upstreamPath?.with;
  const isPrefixed = prefix !== undefined && url.startsWith(prefix);
  const shown = isPrefixed ? secrets.shown(prefix, ['routes', index, 'upstreamPath', 'with']) : '';
  return { origin: target?.shown ?? origin, path: shown + url.slice(isPrefixed ? prefix.length : 0) };
}
