import type { Answer, Call, Operated } from './call.ts';

const exposition = () =>
  import('./exposition.ts').then(({ createExposition, CONTENT_TYPE }) => ({
    expose: createExposition(),
    CONTENT_TYPE,
  }));
let loaded: ReturnType<typeof exposition> | undefined;

/** The response to a scrape. The library is read with the first scrape: a process that is not measured does not wait for it. */
export async function metrics(_call: Call, operated: Operated): Promise<Answer> {
  loaded ??= exposition();
  const { expose, CONTENT_TYPE } = await loaded;
  return { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: await expose(operated) };
}
