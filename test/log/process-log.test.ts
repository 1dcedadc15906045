import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it, vi } from 'vitest';
import { createProcessLog } from '../../src/process/log/process-log.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

afterEach(() => vi.useRealTimers());

it('writes a message at once, after the lines of requests that wait for a block', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  const path = join(temporaryFolder('log', { log: '' }), 'log');
  const log = createProcessLog(path);
  log.writeLine('request');
  log.logger.info('serving');
  const pattern = /^request\n\{.*"msg":"serving"\}\n$/;
  await eventually('both lines are written', () => pattern.test(readFileSync(path, 'utf8')));
  await log.end();
});
