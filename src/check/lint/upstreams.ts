import type { Upstream as UpstreamEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { Upstream } from '../../engine/settings/upstream-definition.ts';
import type { ValidManifest } from './lint-context.ts';

/** An upstream as written and as compiled, with the path of each endpoint in the manifest. */
export interface LintUpstream {
  readonly path: Path;
  readonly entry: UpstreamEntry;
  readonly upstream: Upstream;
  readonly endpoints: readonly { readonly url: URL; readonly path: Path }[];
}

export function upstreamsOf({ manifest, plan }: ValidManifest): LintUpstream[] {
  return plan.upstreams.map((upstream) => {
    const path = ['upstreams', upstream.id];
    const entry = manifest.upstreams[upstream.id] as UpstreamEntry;
    const endpointPath = (index: number) => (entry.url === undefined ? [...path, 'urls', index] : [...path, 'url']);
    const endpoints = upstream.endpoints.map(({ url }, index) => ({ url, path: endpointPath(index) }));
    return { path, entry, upstream, endpoints };
  });
}
