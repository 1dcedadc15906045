import type { AdminContext, AdminRequest, AdminResponse } from '../admin-endpoint.ts';

const loadRenderer = () =>
  import('../metrics/prometheus-renderer.ts').then(({ createPrometheusRenderer, CONTENT_TYPE }) => ({
    render: createPrometheusRenderer(),
    CONTENT_TYPE,
  }));
let renderer: ReturnType<typeof loadRenderer> | undefined;

/** Responds to a scrape. The first scrape loads the Prometheus library, so that a gateway without scrapes starts faster. */
export async function metrics(_request: AdminRequest, context: AdminContext): Promise<AdminResponse> {
  renderer ??= loadRenderer();
  const { render, CONTENT_TYPE } = await renderer;
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await render(context) };
}
