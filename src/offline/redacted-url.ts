import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Plan } from '../plan/plan.ts';
import type { Secrets } from '../problem/redaction.ts';
import type { RecordedRequest } from './recording-upstream.ts';

interface UrlContext {
  readonly plan: Plan;
  readonly manifest: Manifest;
  readonly secrets: Secrets;
}

/** The address of a request to an upstream as it may be printed: its origin and a prefix of its path may come from the environment. */
export function redactedUrl(
  { plan, manifest, secrets }: UrlContext,
  route: string | undefined,
  { origin, url }: Pick<RecordedRequest, 'origin' | 'url'>,
): { readonly origin: string; readonly path: string } {
  const index = plan.routes.findIndex(({ id }) => id === route);
  const target = plan.routes[index]?.upstream.endpoints.find((target) => target.url.origin === origin);
  const prefix = manifest.routes[index]?.upstreamPath?.with;
  const isPrefixed = prefix !== undefined && url.startsWith(prefix);
  const shown = isPrefixed ? secrets.redactValue(prefix, ['routes', index, 'upstreamPath', 'with']) : '';
  return { origin: target?.label ?? origin, path: shown + url.slice(isPrefixed ? prefix.length : 0) };
}
