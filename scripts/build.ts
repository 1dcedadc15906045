/**
 * Builds `dist`, the installed package: types, and the program in few files, because loading four hundred files would take most
 * of the time of a lint run. Packages that no check of a manifest needs stay external.
 *
 *     npm run build
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const EXTERNAL_PACKAGES = ['@opentelemetry/api', '@prometheus-io/client', 'http-proxy-3', 'jose', 'pino'];

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
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'cli/[name]-[hash].js' },
  logLevel: 'warn',
});
cpSync(join(ROOT, 'src/admin/page'), join(ROOT, 'dist/cli/page'), {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});
