import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, onTestFinished } from 'vitest';
import { watchFiles } from '../../src/process/reload/file-watcher.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('watchFiles', () => {
  it('watches a folder that was deleted and created again, which often has the same inode', async () => {
    const folder = temporaryFolder('file-watcher');
    const routes = join(folder, 'routes');
    mkdirSync(routes);
    let onChange = () => {};
    const nextChange = () => new Promise<void>((resolve) => (onChange = resolve));
    const isReady = nextChange();
    const watcher = watchFiles([], () => onChange(), [routes]);
    onTestFinished(() => watcher.close());
    await isReady;
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
});
