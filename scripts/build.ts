/**
 * Builds `dist`, which the package contains: the types, and the program bundled into a few files, since opening four hundred
 * files would take most of the time of a lint run. Packages that only a running gateway needs are not bundled.
 *
 *     npm run build
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const EXTERNAL = ['@opentelemetry/api', '@prometheus-io/client', 'http-proxy-3', 'jose', 'pino'];

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
execFileSync('tsc', ['-p', 'src', '--emitDeclarationOnly'], { cwd: ROOT, stdio: 'inherit' });
await build({
  cwd: ROOT,
  input: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    // The program looks for its workers and the admin page in its own folder.
    'cli/validation-worker': 'src/plan/body/validation-worker.ts',
    'cli/manifest-worker': 'src/reload/manifest-worker.ts',
    'cli/file-worker': 'src/reload/file-worker.ts',
  },
  external: EXTERNAL,
  platform: 'node',
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'cli/[name]-[hash].js' },
  logLevel: 'warn',
});
cpSync(join(ROOT, 'src/admin/page'), join(ROOT, 'dist/cli/page'), {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});
