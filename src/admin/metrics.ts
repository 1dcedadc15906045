import type { Answer, Call, Operated } from './call.ts';

const expositions = new WeakMap<Operated, () => Promise<string>>();

/** What Prometheus scrapes. The library is read with the first scrape: whoever does not measure does not wait for it. */
export async function metrics(_call: Call, operated: Operated): Promise<Answer> {
  const { createExposition, CONTENT_TYPE } = await import('./exposition.ts');
  const expose = expositions.get(operated) ?? createExposition(operated);
  expositions.set(operated, expose);
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await expose() };
}
