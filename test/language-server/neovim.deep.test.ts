import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PROJECT } from './project.ts';

/** True if Neovim is installed (Debian's package `neovim`). */
const hasNeovim = spawnSync('nvim', ['--version']).error === undefined;
const SCRIPT = fileURLToPath(new URL('neovim.lua', import.meta.url));
const page = readFileSync(new URL('../../docs/editors.md', import.meta.url), 'utf8');

/** The configuration for the version of Debian's package, as the page has it. */
const [, CONFIGURATION = ''] = /^In an older version[\s\S]*?```lua\n([\s\S]*?)```$/m.exec(page) ?? [];

describe.skipIf(!hasNeovim)('Neovim', () => {
  it('shows, completes, renames and formats with the configuration of docs/editors.md', async () => {
    const root = temporaryFolder('neovim', { 'init.lua': CONFIGURATION });
    const folder = join(root, 'gateway');
    for (const [name, text] of Object.entries(PROJECT)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const command = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
    writeFileSync(join(root, 'signing-gateway'), command, { mode: 0o755 });
    const { stdout } = await promisify(execFile)(
      'nvim',
      [
        '--headless',
        '-u',
        join(root, 'init.lua'),
        '-i',
        'NONE',
        'gateway.yaml',
        '-c',
        `luafile ${SCRIPT}`,
        '-c',
        'qa!',
      ],
      {
        cwd: folder,
        env: { ...process.env, PATH: `${root}${delimiter}${process.env['PATH']}`, XDG_STATE_HOME: root, HOME: root },
      },
    );
    expect(JSON.parse(stdout)).toEqual({
      mistake: ['23:13 schema'],
      action: expect.stringContaining('Replace get with GET'),
      fixed: '    method: GET',
      hover: 'upstream `contacts`: defined in gateway.yaml, 5 references',
      completion: ['contacts', 'identity', 'archive'],
      renamed: '    upstream: people',
      formatted: '  people: { url: "http://127.0.0.1:7001" }',
    });
    const renamed = (name: string) => readFileSync(join(folder, name), 'utf8');
    expect(renamed('gateway.yaml').match(/upstream: people$/gm)).toHaveLength(2);
    expect(renamed('routes/contacts.yaml')).toContain('upstream: people\n');
    expect(renamed('../security/invariants.yaml')).toContain('upstream: [people, identity]');
    expect(renamed('test/gateway.test.yaml')).toContain('upstream: { id: people,');
  });
});
