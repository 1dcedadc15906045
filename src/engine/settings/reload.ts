import type { Reload } from '../manifest/manifest.generated.ts';
import { describeFileError, type Environment } from '../manifest/source.ts';
import { timerMs } from '../manifest/units.ts';
import { type Finding, quoteFreeErrorAt } from '../problem/finding.ts';
import { errorCode } from './tls.ts';

/** How a plan replaces the active one. */
export interface ReloadSettings {
  /** A test file that the plan must pass, by its path relative to the manifest. */
  readonly selfTest: string | undefined;
  /** How long WebSockets and event streams of a changed or removed route continue. */
  readonly graceMs: number;
}

/** Compiles `reload`. Checks that the test file can be read; running it checks its contents. */
export function compileReload(
  { selfTest, grace }: Reload,
  readFile: Environment['readFile'],
  findings: Finding[],
): ReloadSettings {
  try {
    if (selfTest !== undefined) readFile(selfTest);
  } catch (error) {
    const message = `the file cannot be read: ${describeFileError(errorCode(error))}`;
    findings.push(quoteFreeErrorAt(['reload', 'selfTest'], 'self-test', message));
  }
  return Object.freeze({ selfTest, graceMs: timerMs(grace) });
}
