import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, onTestFinished } from 'vitest';
import { FileWatcher } from '../../src/process/reload/file-watcher.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns a watcher that is ready. `nextChange` waits for the next change that it reports. */
async function watch(files: readonly string[], folders: readonly string[]) {
  let onChange = () => {};
  const nextChange = () => new Promise<void>((resolve) => (onChange = resolve));
  const isReady = nextChange();
  const watcher = new FileWatcher(() => onChange());
  onTestFinished(() => watcher.close());
  watcher.watch(files, folders);
  await isReady;
  return { watcher, nextChange };
}

describe('a file watcher', () => {
  it('watches a folder that was deleted and created again, which often has the same inode', async () => {
    const folder = temporaryFolder('file-watcher');
    const routes = join(folder, 'routes');
    mkdirSync(routes);
    const { watcher, nextChange } = await watch([], [routes]);
    // No event can arrive between these calls.
    rmSync(routes, { recursive: true });
    mkdirSync(routes);
    const isReadyAgain = nextChange();
    watcher.refresh();
    await isReadyAgain;
    const change = nextChange();
    writeFileSync(join(routes, 'new.yaml'), '');
    await change;
  });

  it('watches all names in a folder, also if it has another path for a file in it', async () => {
    const folder = temporaryFolder('file-watcher');
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    const { nextChange } = await watch([join(folder, 'real/gateway.yaml')], [join(folder, 'link')]);
    const change = nextChange();
    writeFileSync(join(folder, 'real/new.yaml'), '');
    await change;
  });

  it('watches a folder and a folder in it', async () => {
    const folder = temporaryFolder('file-watcher');
    mkdirSync(join(folder, 'routes'));
    const { nextChange } = await watch([join(folder, 'gateway.yaml')], [join(folder, 'routes')]);
    for (const name of ['gateway.yaml', 'routes/new.yaml']) {
      const change = nextChange();
      writeFileSync(join(folder, name), '');
      await change;
    }
  });
});
