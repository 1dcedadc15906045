import { mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type {
  CodeAction,
  CodeLens,
  CompletionItem,
  DocumentSymbol,
  Hover,
  Location,
  TextEdit,
  WorkspaceEdit,
} from 'vscode-languageserver';
import { runCli } from '../support/cli.ts';
import { Editor, startServerProcess } from '../support/editor.ts';
import { scaledMs } from '../support/slowness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PROJECT } from './project.ts';

const editors: Editor[] = [];
afterEach(async () => {
  await Promise.all(editors.splice(0).map((editor) => editor.stop()));
});

/** Starts an editor with a process. */
async function startWithProcess() {
  const folder = createProject({});
  return Editor.startWith(startServerProcess(folder), folder);
}

/** Starts an editor in a folder with the project, in which some files have other texts. */
async function startEditor(
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Editor> {
  const editor = await Editor.start(createProject(files), env);
  editors.push(editor);
  return editor;
}

function createProject(files: Readonly<Record<string, string>>): string {
  const folder = join(temporaryFolder('lsp'), 'gateway');
  for (const [name, text] of Object.entries({ ...PROJECT, ...files })) writeIn(folder, name, text);
  return folder;
}

function writeIn(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

describe('diagnostics', () => {
  it('are those of lint on the unsaved text, at the same places', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'upstream: contacts', 'upstream: contact');
    const { 'gateway.yaml': own = [], ...others } = await editor.diagnostics();
    expect(others).toEqual({});
    expect(own).toMatchObject([
      {
        code: 'upstream-unknown',
        severity: 1,
        source: 'signing-gateway',
        range: { start: { line: 24, character: 14 }, end: { line: 24, character: 21 } },
      },
    ]);
    writeIn(editor.folder, 'gateway.yaml', editor.textOf('gateway.yaml'));
    const { out } = await runCli(['lint', '-f', 'json'], editor.folder);
    expect(JSON.parse(out).problems).toMatchObject([
      { rule: 'upstream-unknown', line: 25, column: 15, message: own[0]?.message },
    ]);
    editor.replace('gateway.yaml', 'upstream: contact\n', 'upstream: contacts\n');
    expect(await editor.diagnostics()).toEqual(await diagnosticsOf(PROJECT));
  });

  it('are also those of included files that are not open, and of their unsaved texts', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', '  contacts: {', '  people: {');
    const before = await editor.diagnostics();
    expect(before['routes/contacts.yaml']).toMatchObject([{ code: 'upstream-unknown', range: { start: { line: 6 } } }]);
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'upstream: contacts', 'upstream: people');
    expect((await editor.diagnostics())['routes/contacts.yaml']).toBeUndefined();
  });

  it('of an included file and of a file with invariants are found through the manifest that names them', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'access: protected', 'access: public');
    const { '../security/invariants.yaml': broken } = await editor.diagnostics();
    expect(broken?.map(({ code }) => code)).toEqual(['invariant-broken', 'invariant-broken']);
    expect(broken?.[0]?.relatedInformation).toMatchObject([
      { location: { uri: editor.uriOf('routes/contacts.yaml') } },
    ]);
  });

  it('of an included file do not depend on its keys', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml', 'routs: []\n');
    const { 'routes/contacts.yaml': own } = await editor.diagnostics();
    expect(own).toMatchObject([{ message: expect.stringContaining('routs') }]);
  });

  it('of an included file come from its manifest, also if it has a version of its own', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'upstreams:', 'version: 1\nupstreams:');
    const { 'routes/contacts.yaml': own, 'gateway.yaml': others } = await editor.diagnostics();
    expect(own).toMatchObject([{ code: 'include', message: expect.stringContaining('"version" is not allowed') }]);
    expect(others).toBeUndefined();
  });

  it('of an included file are found in an editor that sends only rootUri', async () => {
    const editor = await Editor.start(createProject({}), {}, 'rootUri');
    editors.push(editor);
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'upstream: contacts', 'upstream: contact');
    const { 'routes/contacts.yaml': own } = await editor.diagnostics();
    expect(own).toMatchObject([{ message: expect.stringContaining('did you mean "contacts"?') }]);
  });

  it('of a manifest that no other one includes are its own', async () => {
    const editor = await startEditor();
    editor.open('other/test.yaml', 'version: 1\nroutes: []\n');
    const { 'other/test.yaml': own } = await editor.diagnostics();
    expect(own).toMatchObject([{ code: 'schema', message: expect.stringContaining('must not be empty') }]);
  });

  it('of a test file are those that the verb test reports before its cases run', async () => {
    const editor = await startEditor();
    editor.open('test/gateway.test.yaml');
    editor.replace('test/gateway.test.yaml', 'route: contacts-list', 'route: contact-list');
    const { 'test/gateway.test.yaml': own } = await editor.diagnostics();
    expect(own).toMatchObject([
      { code: 'route-unknown', message: 'the manifest has no route "contact-list"; did you mean "contacts-list"?' },
    ]);
  });

  it('of the self-test follow when nobody types', async () => {
    const selfTest = { 'gateway.yaml': `${PROJECT['gateway.yaml']}reload: { selfTest: test/gateway.test.yaml }\n` };
    const editor = await startEditor(selfTest);
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'path: /contacts\n', 'path: /people\n');
    await editor.waitFor((all) => all.get('test/gateway.test.yaml')?.some(({ code }) => code === 'self-test') === true);
    editor.replace('gateway.yaml', 'path: /people\n', 'path: /contacts\n');
    await editor.waitFor((all) => (all.get('test/gateway.test.yaml') ?? []).length === 0);
  });

  it('have the second place of a problem', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', '  archive:', '  identity:');
    const { 'routes/contacts.yaml': own } = await editor.diagnostics();
    expect(own?.find(({ code }) => code === 'include-twice')?.relatedInformation).toMatchObject([
      { message: 'the other definition', location: { uri: editor.uriOf('gateway.yaml') } },
    ]);
  });

  it('disappear when the last file of a project is closed', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'version: 1', 'version: 2');
    await editor.waitFor((all) => (all.get('gateway.yaml') ?? []).length > 0);
    editor.close('gateway.yaml');
    await editor.waitFor((all) => all.get('gateway.yaml')?.length === 0);
  });

  it('disappear under the address by which the editor has opened the file', async () => {
    const editor = await startEditor();
    const uri = editor.uriOf('gateway.yaml').replace('gateway.yaml', 'g%61teway.yaml');
    const published: { uri: string; diagnostics: readonly unknown[] }[] = [];
    editor.server.onNotification = (_method, params) => void published.push(params);
    const text = editor.textOf('gateway.yaml').replace('version: 1', 'version: 2');
    editor.server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    const params = { textDocument: { uri }, range, context: { diagnostics: [] } };
    await editor.server.request('textDocument/codeAction', params);
    editor.server.notify('textDocument/didClose', { textDocument: { uri } });
    await vi.waitFor(() => expect(published.at(-1)?.diagnostics).toEqual([]), scaledMs(10_000));
    expect(new Set(published.map((one) => one.uri))).toEqual(new Set([uri]));
  });

  it('of an included file follow the folders of the editor', async () => {
    const editor = await startEditor();
    const parts = await Editor.start(join(editor.folder, 'routes'), {}, 'workspaceFolders', {
      workspace: { workspaceFolders: true },
    });
    editors.push(parts);
    parts.open('contacts.yaml');
    parts.replace('contacts.yaml', 'upstream: contacts', 'upstream: contact');
    expect(await parts.diagnostics()).toEqual({});
    const folder = { uri: editor.uriOf(''), name: 'gateway' };
    parts.server.notify('workspace/didChangeWorkspaceFolders', { event: { added: [folder], removed: [] } });
    expect((await parts.diagnostics())['contacts.yaml']).toMatchObject([{ code: 'upstream-unknown' }]);
    parts.server.notify('workspace/didChangeWorkspaceFolders', { event: { added: [], removed: [folder] } });
    await parts.waitFor((all) => all.get('contacts.yaml')?.length === 0);
  });

  it.each([
    ['values.yaml', 'replicas: [\n'],
    ['k8s/gateway.yaml', 'apiVersion: networking.istio.io/v1\nkind: Gateway\nspec: { servers: [] }\n'],
    ['chart/gateway.yaml', '{{- if .Values.gateway }}\napiVersion: v1\nkind: Gateway\n{{- end }}\n'],
    ['config/gateway.yaml', 'spring:\n  cloud: { gateway: { routes: [] } }\n'],
    ['compose.yaml', "version: '3.8'\ninclude: [../infra/compose.yaml]\nservices: {}\n"],
    ['apps.yaml', 'version: 2\nroutes: [{ path: / }]\n'],
    ['data.yaml', 'cases:\n  - input: 1\n'],
    ['kong.yaml', "_format_version: '3.0'\nroutes: [{ name: contacts, upstream: contacts }]\nupstreams: {}\n"],
    ['api.yaml', '# yaml-language-server: $schema=https://example.com/other-gateway.schema.json\nroutes: []\n'],
  ])('do not exist for %s, a file of another tool, and neither does anything else', async (name, text) => {
    const editor = await startEditor();
    editor.open(name, text);
    expect(await editor.diagnostics()).toEqual({});
    for (const method of ['hover', 'completion', 'documentSymbol', 'formatting', 'codeLens'])
      expect(await editor.request(method, name, text.slice(0, 2), { options: {} })).toBeNull();
  });

  it('follow files that somebody else saves, creates and removes', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const included = PROJECT['routes/contacts.yaml'] ?? '';
    const hasError = (all: ReadonlyMap<string, readonly { readonly code?: unknown }[]>, name: string) =>
      all.get(name)?.some(({ code }) => code === 'upstream-unknown') === true;
    writeIn(editor.folder, 'routes/contacts.yaml', included.replace('upstream: archive', 'upstream: archives'));
    await editor.waitFor((all) => hasError(all, 'routes/contacts.yaml'));
    writeIn(editor.folder, 'routes/contacts.yaml', included);
    await editor.waitFor((all) => !hasError(all, 'routes/contacts.yaml'));
    writeIn(
      editor.folder,
      'routes/more.yaml',
      'routes: [{ id: more, path: /more, method: GET, access: protected, upstream: none }]\n',
    );
    await editor.waitFor((all) => hasError(all, 'routes/more.yaml'));
    rmSync(join(editor.folder, 'routes/more.yaml'));
    await editor.waitFor((all) => !hasError(all, 'routes/more.yaml'));
  });
});

/** Returns the diagnostics of a project without changes. */
async function diagnosticsOf(files: Readonly<Record<string, string>>) {
  const editor = await startEditor(files);
  editor.open('gateway.yaml');
  return editor.diagnostics();
}

describe('quick fixes', () => {
  const MISSPELT = { 'gateway.yaml': (PROJECT['gateway.yaml'] ?? '').replace('method: GET', 'method: get') };

  it('are the fixes of lint', async () => {
    const editor = await startEditor(MISSPELT);
    editor.open('gateway.yaml');
    const position = editor.positionOf('gateway.yaml', 'method: |get');
    const actions = await editor.request<CodeAction[]>('codeAction', 'gateway.yaml', undefined, {
      range: { start: position, end: position },
      context: { diagnostics: [] },
    });
    expect(actions).toMatchObject([
      { kind: 'quickfix', isPreferred: true, title: expect.stringContaining('Replace get with GET') },
      { kind: 'source.fixAll.signing-gateway', title: 'Fix all problems that have a safe fix (1)' },
    ]);
    for (const { edit } of actions) {
      expect(editor.applied(edit ?? {})).toEqual({ 'gateway.yaml': PROJECT['gateway.yaml'] });
    }
  });

  it('are offered at their places only', async () => {
    const editor = await startEditor(MISSPELT);
    editor.open('gateway.yaml');
    const position = { line: 0, character: 0 };
    const context = { diagnostics: [], only: ['quickfix'] };
    const range = { start: position, end: position };
    expect(await editor.request('codeAction', 'gateway.yaml', undefined, { range, context })).toEqual([]);
  });
});

describe('completion', () => {
  const labels = async (editor: Editor, name: string, at: string) =>
    (await editor.request<CompletionItem[]>('completion', name, at)).map(({ label }) => label);

  it.each([
    ['upstream: contacts', 'upstream: |', ['contacts', 'identity', 'archive']],
    ['upstream: contacts', 'upstream: con|', ['contacts', 'identity', 'archive']],
    ['rateLimits: [caller]', 'rateLimits: [|]', ['caller', 'address']],
    ['rateLimits: [caller]', 'rateLimits: [caller, |]', ['caller', 'address']],
    ['rateLimits: [caller]', 'rateLimits:\n      - |', ['caller', 'address']],
    ['rateLimits: [caller]', 'rateLimits: [caller, |', ['caller', 'address']],
    ['roles: [admin]', 'roles: [|]', ['admin', 'user']],
    ["schema: { $ref: '#/schemas/Contact' }", "schema: { $ref: '#/|' }", ['Contact']],
    ["schema: { $ref: '#/schemas/Contact' }", 'schema: { $ref: | }', ['Contact']],
    ['upstream: identity, path: /me', 'upstream: |, path: /me', ['contacts', 'identity', 'archive']],
    ['method: GET', 'method: |', []],
  ])('in place of %j at %j offers %j', async (before, typed, expected) => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', before, typed.replace('|', ''));
    expect(await labels(editor, 'gateway.yaml', typed)).toEqual(expected);
  });

  it('writes a reference in quotes', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', "$ref: '#/schemas/Contact'", '$ref: ');
    const [item] = await editor.request<CompletionItem[]>('completion', 'gateway.yaml', '$ref: | }');
    expect(item?.textEdit).toMatchObject({ newText: "'#/schemas/Contact'" });
  });

  it('keeps the pointer into a schema', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', '#/schemas/Contact', '#/schemas/Con/properties/name');
    const [item] = await editor.request<CompletionItem[]>('completion', 'gateway.yaml', '#/schemas/Con|/');
    expect(item?.textEdit).toMatchObject({ newText: '#/schemas/Contact' });
    const edits = [item?.textEdit as TextEdit];
    const { 'gateway.yaml': text } = editor.applied({ changes: { [editor.uriOf('gateway.yaml')]: edits } });
    expect(text).toContain("'#/schemas/Contact/properties/name'");
    expect(await labels(editor, 'gateway.yaml', '#/schemas/Con/properties/na|me')).toEqual([]);
  });

  it('writes a list of names where one belongs', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'roles: [admin]', 'roles: ');
    const items = await editor.request<CompletionItem[]>('completion', 'gateway.yaml', 'roles: |\n');
    expect(items.map(({ textEdit }) => textEdit?.newText)).toEqual(['[admin]', '[user]']);
  });

  it('knows the names of the manifest in its other files', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'upstream: contacts', 'upstream: ');
    expect(await labels(editor, 'routes/contacts.yaml', 'upstream: |\n')).toEqual(['contacts', 'identity', 'archive']);
    editor.open('test/gateway.test.yaml');
    editor.replace('test/gateway.test.yaml', 'route: contacts-list', 'route: ');
    const routes = await labels(editor, 'test/gateway.test.yaml', 'route: |, refusal');
    expect(routes).toEqual(['contacts-list', 'contacts-create', 'status', 'contacts-read', 'contacts-own']);
    editor.open('../security/invariants.yaml');
    editor.replace('../security/invariants.yaml', 'except: [status]', 'except: []');
    expect(await labels(editor, '../security/invariants.yaml', 'except: [|]')).toEqual(routes);
  });

  it('works while another part of the text is broken', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'method: POST', 'method: "POST');
    editor.replace('gateway.yaml', 'upstream: contacts', 'upstream: ');
    expect(await labels(editor, 'gateway.yaml', 'upstream: |\n')).toEqual(['contacts', 'identity', 'archive']);
  });
});

describe('definition and references', () => {
  it('are found in all files of the project', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    const definition = await editor.request<Location[]>('definition', 'routes/contacts.yaml', 'upstream: con|tacts');
    expect(definition).toEqual([
      {
        uri: editor.uriOf('gateway.yaml'),
        range: { start: { line: 5, character: 2 }, end: { line: 5, character: 10 } },
      },
    ]);
    const at = 'upstream: con|tacts';
    const context = { includeDeclaration: true };
    const references = await editor.request<Location[]>('references', 'routes/contacts.yaml', at, { context });
    expect(references.map(({ uri, range }) => `${uri.split('/').at(-1)}:${range.start.line + 1}`)).toEqual([
      'gateway.yaml:6',
      'gateway.yaml:25',
      'gateway.yaml:31',
      'contacts.yaml:7',
      'invariants.yaml:3',
      'gateway.test.yaml:11',
    ]);
  });

  it('exist for every kind of name', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const context = { includeDeclaration: false };
    const count = async (at: string) =>
      (await editor.request<Location[]>('references', 'gateway.yaml', at, { context })).length;
    expect(await count('  Con|tact:')).toBe(1);
    expect(await count('  cal|ler:')).toBe(2);
    expect(await count('allow: [ad|min')).toBe(3);
    expect(await count('id: contacts-l|ist')).toBe(1);
    expect(await count('id: stat|us')).toBe(1);
    expect(await count('listen: 127|')).toBe(0);
  });
});

describe('rename', () => {
  const rename = (editor: Editor, name: string, at: string, newName: string) =>
    editor.request<WorkspaceEdit>('rename', name, at, { newName });

  it.each([
    ['name of an upstream', 'upstream: con|tacts', 'people', 4],
    ['name of a schema', '  Con|tact:', 'Person', 1],
    ['name of a rate limit', 'rateLimits: [cal|ler]', 'per-caller', 2],
    ['route id', 'id: contacts-l|ist', 'list-contacts', 2],
    ['route id of an exception', 'id: stat|us', 'health', 2],
  ])('changes the %s in all files, and the project has the same problems', async (_kind, at, newName, fileCount) => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const before = await editor.diagnostics();
    const changed = editor.applied(await rename(editor, 'gateway.yaml', at, newName));
    expect(Object.keys(changed)).toHaveLength(fileCount);
    expect(await diagnosticsOf(changed)).toEqual(before);
    for (const [name, text] of Object.entries(changed)) expect(text).not.toBe(PROJECT[name]);
    const folder = createProject(changed);
    const { code, out } = await runCli(['test', 'test/gateway.test.yaml'], folder);
    expect(code, out).toBe(0);
  });

  it('works from a test file, and keeps quotes', async () => {
    const quoted = (PROJECT['gateway.yaml'] ?? '').replace('id: contacts-list', "id: 'contacts-list'");
    const editor = await startEditor({ 'gateway.yaml': quoted });
    editor.open('test/gateway.test.yaml');
    const edit = await rename(editor, 'test/gateway.test.yaml', 'route: contacts-l|ist', 'all-contacts');
    expect(editor.applied(edit)).toMatchObject({
      'gateway.yaml': quoted.replace("id: 'contacts-list'", "id: 'all-contacts'"),
      'test/gateway.test.yaml': expect.stringContaining('route: all-contacts,'),
    });
  });

  it.each([
    ['upstream: con|tacts', 'Contacts', '"Contacts" is not a name; write lower-case words joined by hyphens'],
    ['upstream: con|tacts', 'identity', '"identity" is the name of another upstream; write a different one'],
    ['  Con|tact:', 'a b', '"a b" is not a name of a schema; write letters, digits and . _ -'],
    ['allow: [ad|min', 'owner', 'a role is a value of the token; change it where the tokens are issued, then here'],
  ])('at %j to %j is refused', async (at, newName, message) => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    await expect(rename(editor, 'gateway.yaml', at, newName)).rejects.toThrow(message);
  });

  it('changes the rate limits of defaults', async () => {
    const more =
      'defaults: { rateLimits: [address] }\n' +
      'routes: [{ id: more, method: GET, path: /more, upstream: contacts, access: public }]\n';
    const editor = await startEditor({ 'routes/more.yaml': more });
    editor.open('gateway.yaml');
    const edit = await rename(editor, 'gateway.yaml', 'rateLimits: [add|ress]', 'per-address');
    expect(editor.applied(edit)).toMatchObject({ 'routes/more.yaml': more.replace('address', 'per-address') });
  });

  it('changes the upstreams that an invariant allows', async () => {
    const invariants =
      'invariants: [{ id: one, when: {}, require: { upstream: { only: [contacts, identity, archive] } } }]\n';
    const editor = await startEditor({ '../security/invariants.yaml': invariants });
    editor.open('gateway.yaml');
    const changed = editor.applied(await rename(editor, 'gateway.yaml', '  con|tacts:', 'people'));
    expect(changed['../security/invariants.yaml']).toBe(invariants.replace('contacts', 'people'));
  });

  it('changes another manifest that includes the same file, although it is not open', async () => {
    const other = (PROJECT['gateway.yaml'] ?? '').replace('invariants: { file: ../security/invariants.yaml }\n', '');
    const editor = await startEditor({ 'staging.yaml': other });
    editor.open('gateway.yaml');
    const changed = editor.applied(await rename(editor, 'gateway.yaml', '  con|tacts:', 'people'));
    expect(changed['staging.yaml']).toBe(other.replaceAll(/(upstream: |^ {2})contacts\b/gm, '$1people'));
    const context = { includeDeclaration: true };
    const places = await editor.request<Location[]>('references', 'gateway.yaml', 'upstream: con|tacts', { context });
    expect(places.filter(({ uri }) => uri.endsWith('/staging.yaml'))).toHaveLength(3);
    await expect(rename(editor, 'gateway.yaml', '  con|tacts:', 'archive')).rejects.toThrow('another upstream');
  });

  it('of a file on disk does not count its byte order mark', async () => {
    const part = '\uFEFFupstreams: { archive: { url: http://127.0.0.1:7003, health: { connect: true } } }\n';
    const editor = await startEditor({ 'routes/contacts.yaml': part });
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'upstream: contacts', 'upstream: archive');
    const { changes } = await rename(editor, 'gateway.yaml', 'upstream: arc|hive', 'storage');
    expect(changes?.[editor.uriOf('routes/contacts.yaml')]).toMatchObject([{ range: { start: { character: 13 } } }]);
  });

  it('is refused if a manifest with an error would have another one', async () => {
    const folded = (PROJECT['gateway.yaml'] ?? '')
      .replace('upstream: contacts\n', 'upstream: >-\n      contacts\n')
      .replace('method: POST', 'method: PATCH, POST');
    const editor = await startEditor({ 'gateway.yaml': folded });
    editor.open('gateway.yaml');
    await expect(rename(editor, 'gateway.yaml', '  con|tacts:', 'people')).rejects.toThrow(
      /would not load with this name: .*gateway.yaml:25:15: no upstream is named "contacts"/,
    );
  });

  it('is refused while another file has a syntax error and may contain the name', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.open('routes/contacts.yaml');
    editor.replace('routes/contacts.yaml', 'method: GET', 'method: "GET');
    const changed = rename(editor, 'gateway.yaml', '  con|tacts:', 'people');
    await expect(changed).rejects.toThrow(
      'contacts.yaml has a syntax error and may contain "contacts"; correct it first',
    );
    expect(await rename(editor, 'gateway.yaml', '  iden|tity:', 'users')).not.toBeNull();
  });

  it('is refused if the manifest would not load', async () => {
    const aliased = (PROJECT['gateway.yaml'] ?? '')
      .replace('message: admins and users only', 'message: &name contacts')
      .replace('upstream: contacts', 'upstream: *name');
    const editor = await startEditor({ 'gateway.yaml': aliased });
    editor.open('gateway.yaml');
    await expect(rename(editor, 'gateway.yaml', '  con|tacts:', 'people')).rejects.toThrow(
      /would not load with this name: .*gateway.yaml:25:15: no upstream is named "contacts"/,
    );
  });
});

describe('hover', () => {
  const hover = async (editor: Editor, name: string, at: string) => {
    const result = await editor.request<Hover | null>('hover', name, at);
    return (result?.contents as { value: string } | undefined)?.value;
  };

  it('shows which requests reach a route and who may send them', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    expect(await hover(editor, 'routes/contacts.yaml', 'id: contacts-r|ead')).toBe(
      [
        '**contacts-read**: protected',
        'Requests: `GET,HEAD /contacts/{id}`',
        'Without those of more specific routes:\n\n- `GET,HEAD /contacts/me`: route `contacts-own`',
        'Callers: a valid token with the role `admin` or `user`',
        'Upstream: `contacts`',
        'Invariants: `contacts-are-private`',
      ].join('\n\n'),
    );
    editor.open('gateway.yaml');
    expect(await hover(editor, 'gateway.yaml', 'path: /sta|tus')).toContain('Callers: anyone, without a token');
    expect(await hover(editor, 'gateway.yaml', 'id: contacts-cr|eate')).toContain('role `admin`\n');
  });

  it('shows the last plan while the text is broken', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    await editor.diagnostics();
    editor.replace('gateway.yaml', 'method: POST', 'method: "POST');
    expect(await hover(editor, 'gateway.yaml', 'id: contacts-l|ist')).toContain('**contacts-list**: protected');
  });

  it('shows where a name is defined', async () => {
    const editor = await startEditor();
    editor.open('routes/contacts.yaml');
    expect(await hover(editor, 'routes/contacts.yaml', 'upstream: con|tacts')).toBe(
      'upstream `contacts`: defined in gateway.yaml, 5 references',
    );
  });

  it('shows no value from the environment', async () => {
    const roles = (PROJECT['gateway.yaml'] ?? '').replace('allow: [admin, user]', "allow: [admin, '${SECRET_ROLE}']");
    const editor = await startEditor({ 'gateway.yaml': roles }, { SECRET_ROLE: 'hidden' });
    editor.open('gateway.yaml');
    const text = await hover(editor, 'gateway.yaml', 'id: contacts-l|ist');
    expect(text).toContain('`admin`');
    expect(text).not.toContain('hidden');
  });
});

describe('the rest of the editor', () => {
  it('shows a line above each public route', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const lenses = await editor.request<CodeLens[]>('codeLens', 'gateway.yaml');
    expect(lenses.map(({ range, command }) => [range.start.line, command?.title])).toEqual([
      [34, 'Public: no token is needed for GET /status'],
    ]);
  });

  it('shows an outline', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const symbols = await editor.request<DocumentSymbol[]>('documentSymbol', 'gateway.yaml');
    expect(symbols.map(({ name, children }) => [name, children?.map((child) => child.name)])).toEqual([
      ['version', []],
      ['listen', []],
      ['include', []],
      ['invariants', ['file']],
      ['upstreams', ['contacts', 'identity']],
      ['auth', []],
      ['rateLimits', ['caller', 'address']],
      ['schemas', ['Contact']],
      ['routes', ['contacts-list', 'contacts-create', 'status']],
    ]);
    expect(symbols.at(-1)?.children?.[0]).toMatchObject({ detail: 'GET /contacts', range: { end: { line: 26 } } });
  });

  it('shows an outline of a half-typed text, without an empty name', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'id: contacts-list', 'id: ');
    editor.replace('gateway.yaml', 'version: 1', '"": 1');
    const symbols = await editor.request<DocumentSymbol[]>('documentSymbol', 'gateway.yaml');
    expect(symbols[0]?.name).toBe('""');
    expect(symbols.at(-1)?.children?.map(({ name }) => name)).toEqual(['1', 'contacts-create', 'status']);
  });

  it.each(['\n', '\r\n'])('formats as fmt does, with line ends %j', async (lineEnd) => {
    const untidy = (PROJECT['gateway.yaml'] ?? '')
      .replace('upstreams:\n', 'upstreams:   \n\n\n')
      .replaceAll('\n', lineEnd);
    const editor = await startEditor({ 'gateway.yaml': untidy });
    editor.open('gateway.yaml');
    const edits = await editor.request<TextEdit[]>('formatting', 'gateway.yaml', undefined, { options: {} });
    const formatted = editor.applied({ changes: { [editor.uriOf('gateway.yaml')]: edits } })['gateway.yaml'];
    const { code } = await runCli(['fmt', 'gateway.yaml'], editor.folder);
    expect(code).toBe(0);
    expect(edits).toHaveLength(1);
    editor.close('gateway.yaml');
    expect(formatted).toBe(editor.textOf('gateway.yaml'));
  });

  it('does not format a text with a syntax error', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    editor.replace('gateway.yaml', 'version: 1', 'version: "1   ');
    expect(await editor.request('formatting', 'gateway.yaml', undefined, { options: {} })).toEqual([]);
  });
});

describe('the process', () => {
  it('responds to a cancelled request with an error, and to the next one', async () => {
    const editor = await startEditor();
    editor.open('gateway.yaml');
    const params = { textDocument: { uri: editor.uriOf('gateway.yaml') } };
    const cancelled = editor.server.cancelledRequest('textDocument/documentSymbol', params);
    await expect(cancelled).rejects.toMatchObject({ code: -32800 });
    expect(await editor.request('documentSymbol', 'gateway.yaml')).not.toHaveLength(0);
  });

  it('refuses requests before initialize and after shutdown', async () => {
    const server = startServerProcess(createProject({}));
    const params = { textDocument: { uri: 'file:///gateway.yaml' } };
    const symbols = () => server.request('textDocument/documentSymbol', params);
    await expect(symbols()).rejects.toMatchObject({ code: -32002 });
    await server.request('initialize', { processId: null, rootUri: null, capabilities: {} });
    expect(await symbols()).toBeNull();
    await server.request('shutdown', {});
    await expect(symbols()).rejects.toMatchObject({ code: -32600 });
    const { closed } = server;
    server.notify('exit', {});
    expect(await closed).toEqual([0, null]);
  });

  it('opens no socket', async () => {
    const editor = await startWithProcess();
    editors.push(editor);
    editor.open('gateway.yaml');
    await editor.diagnostics();
    const descriptors = `/proc/${editor.server.pid}/fd`;
    const sockets = readdirSync(descriptors).filter((fd) => {
      try {
        return Number(fd) > 2 && readlinkSync(join(descriptors, fd)).startsWith('socket:');
      } catch {
        return false;
      }
    });
    expect(sockets).toEqual([]);
  });

  it('exits when the editor has ended', async () => {
    const editor = await startWithProcess();
    const { closed } = editor.server;
    editor.open('gateway.yaml');
    editor.server.endInput();
    expect(await closed).toEqual([1, null]);
  });

  it('exits with 0 after shutdown', async () => {
    const editor = await startWithProcess();
    const { closed } = editor.server;
    await editor.stop();
    expect(await closed).toEqual([0, null]);
  });
});
