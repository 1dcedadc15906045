/**
 * Builds the extension for VS Code: one CommonJS file, and a copy of the JSON Schema for the extension that completes keys.
 *
 *     npm run build:vscode
 *     node scripts/build-vscode.ts FOLDER    # instead of editors/vscode/dist
 */
import { copyFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = resolve(process.argv[2] ?? join(ROOT, 'editors/vscode/dist'));
const BUNDLE = join(FOLDER, 'extension.js');

rmSync(BUNDLE, { force: true });
await build({
  cwd: ROOT,
  input: 'editors/vscode/src/extension.ts',
  external: ['vscode'],
  platform: 'node',
  output: { file: BUNDLE, format: 'cjs', exports: 'named', minify: true },
  logLevel: 'warn',
});
copyFileSync(join(ROOT, 'schema/gateway.schema.json'), join(FOLDER, 'gateway.schema.json'));
