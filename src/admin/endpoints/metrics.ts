import type { AdminContext, AdminRequest, AdminResponse } from '../admin-endpoint.ts';

const loadRenderer = () =>
  import('../metrics/prometheus-renderer.ts').then(({ createPrometheusRenderer, CONTENT_TYPE }) => ({
    expose: createPrometheusRenderer(),
    CONTENT_TYPE,
  }));
let renderer: ReturnType<typeof loadRenderer> | undefined;

/** The response to a scrape. The library is read with the first scrape: a process that is not measured does not wait for it. */
export async function metrics(_call: AdminRequest, operated: AdminContext): Promise<AdminResponse> {
  renderer ??= loadRenderer();
  const { expose, CONTENT_TYPE } = await renderer;
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await expose(operated) };
}
