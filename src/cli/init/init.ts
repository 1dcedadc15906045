import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLoopback } from '../../engine/dns/loopback.ts';
import { redactCredentials } from '../../engine/problem/problem.ts';
import { parseHttpUrl } from '../../engine/settings/address.ts';
import { DEFAULT_MANIFEST, MANIFEST_OPTIONS, namedManifest } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { SCHEMA_FOLDER } from '../schema.ts';
import { sendRequest } from '../send-request.ts';
import { CommandError, defineVerb, errorCode, type Terminal, UsageError } from '../terminal.ts';
import { writeOrFail } from '../write-file-atomic.ts';
import { type Starter, starterManifest, starterTestFile } from './starter-files.ts';

export const verb = defineVerb({
  usage: 'signing-gateway init [FILE | FOLDER] [--upstream URL] [--container]',
  options: {
    ...MANIFEST_OPTIONS,
    upstream: valueOption(
      'URL',
      'your service: a URL that responds to GET; default: the echo upstream of "signing-gateway dev"',
    ),
    container: {
      type: 'boolean',
      summary: 'listen on 0.0.0.0 with a worker per processor, for a gateway in a container',
    },
  },
  examples: [
    'signing-gateway init',
    'signing-gateway init --upstream http://127.0.0.1:3000',
    'signing-gateway init ../my-gateway',
    'signing-gateway init deploy/gateway.yaml --container --upstream http://contacts:3000/health',
  ],
  async run({ env, out, err }, { values, positionals }) {
    const name = namedManifest(values, positionals);
    const isFolder = extname(name) === '';
    const file = isFolder ? join(name, DEFAULT_MANIFEST) : name;
    const target = values.upstream === undefined ? undefined : readTarget(values.upstream);
    const starter = chooseStarter(target, values.container === true);
    const tests = join(dirname(file), `${basename(file, extname(file))}.test.yaml`);
    for (const path of [file, tests])
      if (existsSync(path)) throw new CommandError(`${path} already exists; name another file, or remove this one`);
    const probed = target === undefined ? '' : await describeProbe(target);
    const folder = dirname(file);
    writeOrFail(folder, () => mkdirSync(folder, { recursive: true }));
    writeNew(file, starterManifest(schemaPathFrom(file, 'gateway.schema.json'), starter));
    writeNew(tests, starterTestFile(schemaPathFrom(file, 'gateway-test.schema.json'), basename(file), starter));
    out(`${file}\n${tests}\n`);
    err(`${probed}${containerNote(target, starter)}${nextSteps(file, tests, env)}`);
    return 0;
  },
});

/** The address of a service and the path at which it responds. */
interface UpstreamTarget {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
}

const EXAMPLE = 'write for example http://127.0.0.1:3000';

/** Reads the value of `--upstream`. Its path becomes the path of the first route. Throws a `UsageError` if it is no such URL. */
function readTarget(text: string): UpstreamTarget {
  const fail = (reason: string) => new UsageError(`--upstream ${redactCredentials(text)}: ${reason}`);
  if (!/^https?:\/\//i.test(text)) throw fail(`the address begins with http:// or https://; ${EXAMPLE}`);
  const url = parseHttpUrl(text);
  if (typeof url === 'string') throw fail(`${url}; ${EXAMPLE}`);
  const { origin, pathname, search, hash } = url;
  if (search !== '' || hash !== '')
    throw fail('a route has no query and no fragment; remove everything after the path');
  const path = pathname.replace(/\/+$/, '') || '/';
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$|^\/$/.test(path))
    throw fail('the path has characters that need a pattern; name a simpler path, and add the route to the manifest');
  return { origin, path };
}

const TIMEOUT_MS = 3_000;

/** Sends GET to the target. Returns the status of the response, or the code of the error. */
async function probeUpstream({ origin, path }: UpstreamTarget): Promise<number | string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await sendRequest(`${origin}${path}`, { signal, headers: { accept: '*/*' } });
    response.destroy();
    return response.statusCode ?? 0;
  } catch (error) {
    return signal.aborted ? `no response within ${TIMEOUT_MS / 1_000} s` : errorCode(error);
  }
}

/** The echo upstream is a part of `dev`, which sets the variable. */
const ECHO = {
  upstreamUrl: '${ECHO_URL:-http://127.0.0.1:7003}',
  upstreamComment: 'The echo upstream of "signing-gateway dev". Replace it with the address of your service.',
  publicPath: '/status',
};

function chooseStarter(target: UpstreamTarget | undefined, isContainer: boolean): Starter {
  if (target === undefined) return { ...ECHO, isContainer };
  const { origin, path } = target;
  return { upstreamUrl: `\${API_URL:-${origin}}`, upstreamComment: '', publicPath: path, isContainer };
}

/** Returns the result of a request to the upstream, and the action that it needs. */
async function describeProbe(target: UpstreamTarget): Promise<string> {
  const { origin, path } = target;
  const result = await probeUpstream(target);
  if (typeof result === 'string')
    return `${origin} does not respond (${result}). Start the service, or correct "url" in the manifest.\n`;
  if (result < 400) return `${origin} responds to GET ${path} with ${result}.\n`;
  return `${origin} responds to GET ${path} with ${result}. Change "path" of the route "public" to a path of your service.\n`;
}

function containerNote(target: UpstreamTarget | undefined, { isContainer }: Starter): string {
  if (target === undefined || !isContainer || !isLoopback(new URL(target.origin).hostname)) return '';
  return `In a container, ${target.origin} is the container itself. Set API_URL to the address of the service in its network.\n`;
}

/** Under npx and npm the command itself may not be on the path. */
function nextSteps(file: string, tests: string, env: Terminal['env']): string {
  const commands: Partial<Record<string, string>> = { npx: 'npx signing-gateway', gateway: 'npm run gateway --' };
  const command = commands[env['npm_lifecycle_event'] ?? ''] ?? 'signing-gateway';
  const argument = file === 'gateway.yaml' ? '' : ` ${file}`;
  return `Next: run "${command} dev${argument}", "${command} lint ${file}" and "${command} test ${tests}"\n`;
}

/** Returns the relative path to a schema, for editors that open a file in the same folder. */
function schemaPathFrom(file: string, schema: string): string {
  const path = relative(resolve(dirname(file)), fileURLToPath(new URL(schema, SCHEMA_FOLDER))).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Writes a new file. Fails if the file exists by now. */
function writeNew(path: string, text: string): void {
  writeOrFail(path, () => writeFileSync(path, text, { flag: 'wx' }));
}
