import type { Reload } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { timerMs } from '../../manifest/units.ts';
import { errorAt, type Finding } from '../../problem/finding.ts';
import { attempt, isFailed } from './pem.ts';

/** How a plan is put in force in place of another one. */
export interface ReloadSettings {
  /** A test file that the plan must pass, by its path relative to the manifest. */
  readonly selfTest: string | undefined;
  /** How long WebSockets and event streams of a route that is not any more what it was go on. */
  readonly graceMs: number;
}

/** What the test file says is looked at only when it is run; that it can be read is known now. */
export function compileReload(
  { selfTest, grace }: Reload,
  readFile: Environment['readFile'],
  findings: Finding[],
): ReloadSettings {
  const text = selfTest === undefined ? undefined : attempt(() => readFile(selfTest));
  if (isFailed(text)) {
    const message = `the file cannot be read (${text.code}); write a path relative to the manifest`;
    findings.push(errorAt(['reload', 'selfTest'], 'self-test', message));
  }
  return Object.freeze({ selfTest, graceMs: timerMs(grace) });
}
