import { readRequestTarget } from '../engine/gateway/request/request-head.ts';
import { Refusal } from '../engine/gateway/response/refusal.ts';
import { HTTP_METHODS, sortMethods } from '../engine/http1/http-methods.ts';
import { loggedPath } from '../engine/log/logged-path.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { loadPlanned } from './manifest-file.ts';
import { chooseManifest, MANIFEST_OPTIONS } from './named-manifest.ts';
import { CommandError, defineVerb, UsageError } from './terminal.ts';

export const verb = defineVerb({
  usage: 'signing-gateway surrogate METHOD PATH [FILE]',
  options: MANIFEST_OPTIONS,
  choices: sortMethods(HTTP_METHODS),
  examples: [
    'signing-gateway surrogate GET /public/f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'grep -F "$(signing-gateway surrogate GET /public/7)" access.log',
  ],
  async run(terminal, { values, positionals }) {
    const [method, path, ...files] = positionals;
    if (method === undefined || !path?.startsWith('/'))
      throw new UsageError('name the request: METHOD PATH, for example GET /public/7');
    const file = chooseManifest([...(values.config ?? []), ...files]);
    const loaded = loadPlanned(file, terminal);
    const { plan, manifest } = loaded;
    const sent = pathOf(path, plan);
    const logged = loggedPath(plan, method, sent, plan.router.match(method, sent));
    if (logged !== sent && manifest.log.secret === undefined)
      throw new CommandError(
        `${file}: each process has its own surrogates without log.secret; set log: { secret: "\${LOG_SECRET}" }`,
      );
    terminal.out(`${logged}\n`);
    return 0;
  },
});

function pathOf(url: string, { router }: Plan): string {
  try {
    return readRequestTarget(url, undefined, router.keepsEncodedSlash).path;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new CommandError(`the gateway refuses this path (${error.reason}), and its line has no path`);
  }
}
