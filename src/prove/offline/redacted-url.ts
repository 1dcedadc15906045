import type { PlannedManifest } from '../../engine/load.ts';
import type { RecordedRequest } from './recording-upstream.ts';

/**
 * Returns the URL of an upstream request in a form that is safe to print: its origin and the prefix of its path may come
 * from the environment.
 */
export function redactedUrl(
  { plan, manifest, secrets }: Pick<PlannedManifest, 'plan' | 'manifest' | 'secrets'>,
  route: string | undefined,
  { origin, url }: Pick<RecordedRequest, 'origin' | 'url'>,
): { readonly origin: string; readonly path: string } {
  const index = plan.routes.findIndex(({ id }) => id === route);
  const endpoint = plan.routes[index]?.upstream.endpoints.find((endpoint) => endpoint.url.origin === origin);
  const prefix = manifest.routes[index]?.upstreamPath?.with;
  const isPrefixed = prefix !== undefined && url.startsWith(prefix);
  const redacted = isPrefixed ? secrets.redactValue(prefix, ['routes', index, 'upstreamPath', 'with']) : '';
  return { origin: endpoint?.label ?? origin, path: redacted + url.slice(isPrefixed ? prefix.length : 0) };
}
