import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FakeEditor } from './vscode-fake.ts';

interface Extension {
  activate(context: { readonly subscriptions: unknown[] }): Promise<void>;
  deactivate(): Promise<void>;
}

const root = new URL('../../', import.meta.url).pathname;
const require = createRequire(import.meta.url);
const manifest = JSON.parse(readFileSync(join(root, 'editors/vscode/package.json'), 'utf8'));
const source = readFileSync(join(root, 'editors/vscode/src/extension.ts'), 'utf8');
const SERVER = [process.execPath, join(root, 'src/cli/main.ts')];
const MANIFEST = 'version: 1\nlisten: 127.0.0.1:0\nroutes: []\nupstream: {}\n';

const build = (folder: string) => execFileSync(process.execPath, ['scripts/build-vscode.ts', folder], { cwd: root });
let dist = '';
let bundle = '';
let started: Extension | undefined;

beforeAll(() => {
  dist = temporaryFolder('vscode-extension');
  build(dist);
  bundle = readFileSync(join(dist, 'extension.js'), 'utf8');
});

afterEach(async () => {
  await started?.deactivate();
  started = undefined;
});

/** Runs the bundle with the editor as its module `vscode`, and activates it. */
async function activate(editor: FakeEditor): Promise<Extension> {
  const module = { exports: {} as Extension };
  const requireFrom = (name: string) => (name === 'vscode' ? editor.module : require(name));
  new Function('require', 'module', 'exports', bundle)(requireFrom, module, module.exports);
  started = module.exports;
  await started.activate({ subscriptions: [] });
  return started;
}

async function expectDiagnostics(editor: FakeEditor, path: string): Promise<void> {
  editor.open(path, MANIFEST);
  await eventually(
    'the problem of the manifest',
    () => editor.diagnostics.get(path)?.some(({ message }) => message.includes('upstream')) === true,
  );
}

describe('the extension for VS Code', () => {
  it('starts the server of the setting, which reports the problems of an open manifest', async () => {
    const folder = temporaryFolder('vscode-workspace', { 'gateway.yaml': MANIFEST });
    const editor = new FakeEditor(folder, SERVER);
    await activate(editor);
    await expectDiagnostics(editor, join(folder, 'gateway.yaml'));
    expect(editor.errors).toEqual([]);
  });

  it('starts the program that the workspace has installed', async () => {
    const program = 'node_modules/.bin/signing-gateway';
    const script = `#!/bin/sh\nexec '${SERVER.join("' '")}' "$@"\n`;
    const folder = temporaryFolder('vscode-workspace', { 'gateway.yaml': MANIFEST, [program]: script });
    chmodSync(join(folder, program), 0o755);
    const editor = new FakeEditor(folder);
    await activate(editor);
    await expectDiagnostics(editor, join(folder, 'gateway.yaml'));
  });

  it('shows one error that opens the setting if the program is missing, and starts after a restart with another setting', async () => {
    const folder = temporaryFolder('vscode-workspace', { 'gateway.yaml': MANIFEST });
    const editor = new FakeEditor(folder, ['/missing/signing-gateway']);
    await activate(editor);
    await eventually('the setting opens', () => editor.executed.length > 0);
    expect(editor.errors).toEqual([
      'cannot start the program "/missing/signing-gateway"; install signing-gateway, or set signingGateway.command',
    ]);
    expect(editor.executed).toEqual([['workbench.action.openSettings', 'signingGateway.command']]);
    editor.command = SERVER;
    await editor.commands.get('signingGateway.restart')?.();
    await expectDiagnostics(editor, join(folder, 'gateway.yaml'));
  });

  it('contributes the commands and the setting that the code uses', async () => {
    const editor = new FakeEditor(temporaryFolder('vscode-workspace'), SERVER);
    await activate(editor);
    const { commands, configuration } = manifest.contributes;
    expect([...editor.commands.keys()]).toEqual(commands.map(({ command }: { command: string }) => command));
    expect(Object.keys(configuration.properties)).toEqual([...new Set(editor.inspectedSettings)]);
    expect(configuration.properties['signingGateway.command'].default).toEqual(['signing-gateway']);
    expect(source).toContain("['signing-gateway']");
  });

  it('does not run in workspaces that the user does not trust', () => {
    expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
  });
});

describe('the built extension', () => {
  it('has the same bytes in each folder, and no path of the machine', () => {
    const other = temporaryFolder('vscode-extension');
    build(other);
    expect(readFileSync(join(other, 'extension.js'), 'utf8')).toBe(bundle);
    expect(bundle).not.toContain(root);
    expect(bundle).not.toContain(dist);
  });

  it('has the files that its manifest names', () => {
    expect(manifest.main).toBe('dist/extension.js');
    expect(manifest.contributes.yamlValidation[0].url).toBe('./dist/gateway.schema.json');
    expect(readFileSync(join(dist, 'gateway.schema.json'), 'utf8')).toBe(
      readFileSync(join(root, 'schema/gateway.schema.json'), 'utf8'),
    );
  });

  it('requires only modules of Node and of the editor', () => {
    const names = [...bundle.matchAll(/\brequire\(["'`]([^"'`]+)["'`]\)/g)].map(([, name = '']) => name);
    const foreign = names.filter((name) => name !== 'vscode' && process.getBuiltinModule(name) === undefined);
    expect(foreign).toEqual([]);
    expect(names).toContain('vscode');
  });

  it('needs the version of VS Code that its types describe', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(manifest.engines.vscode).toBe(`^${devDependencies['@types/vscode']}`);
  });
});
