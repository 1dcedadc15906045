/**
 * Builds `dist`, the installed package: types, and the program in few files, because loading four hundred files would take most
 * of the time of a lint run. Packages that no check of a manifest needs stay external.
 *
 *     npm run build
 *     DOCS_URL=https://docs.example/gateway npm run build    # reports link to the pages there
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const EXTERNAL_PACKAGES = ['@opentelemetry/api', '@prometheus-io/client', 'http-proxy-3', 'jose', 'pino'];

const docsUrl = readDocsUrl();

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
execFileSync('tsc', ['-p', 'src', '--emitDeclarationOnly'], { cwd: ROOT, stdio: 'inherit' });
await build({
  cwd: ROOT,
  input: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    'cli/container-health': 'src/cli/health/container-health.ts',
    // The code loads workers and the admin page from the folder of the file that starts them.
    'cli/validation-worker': 'src/plan/body/validation-worker.ts',
    'cli/manifest-worker': 'src/reload/manifest-worker.ts',
    'cli/file-worker': 'src/reload/file-worker.ts',
  },
  external: EXTERNAL_PACKAGES,
  platform: 'node',
  transform: docsUrl === undefined ? {} : { define: { DOCS_URL: JSON.stringify(docsUrl) } },
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'cli/[name]-[hash].js' },
  logLevel: 'warn',
});
cpSync(join(ROOT, 'src/admin/page'), join(ROOT, 'dist/cli/page'), {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});
// npm sets this bit when it installs the package. A file in a checkout or an unpacked archive needs it too.
chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);

/** Returns the address of the published folder `docs` without a slash at its end; `undefined` without the variable. */
function readDocsUrl(): string | undefined {
  const text = process.env['DOCS_URL'];
  if (text === undefined || text === '') return undefined;
  const { protocol, search, hash } = new URL(text);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '')
    throw new Error(`DOCS_URL is "${text}"; write an http or https URL without a query`);
  return text.replace(/\/+$/, '');
}
