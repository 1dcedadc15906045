import type { Severity } from '../../../problem/finding.ts';
import { fullMessage, type Reporter, toJson, withFingerprints } from './lint-report.ts';

/** An error keeps the manifest from being served at all. */
const SEVERITIES = { error: 'critical', warning: 'minor', info: 'info' } as const satisfies Record<Severity, string>;

/** A Code Quality report of GitLab CI/CD. */
export const gitlab: Reporter = (report) =>
  toJson(
    withFingerprints(report).map(({ problem, fingerprint }) => ({
      description: fullMessage(problem),
      check_name: problem.rule,
      fingerprint,
      severity: SEVERITIES[problem.severity],
      location: { path: problem.file, lines: { begin: problem.range.line, end: problem.range.endLine } },
    })),
  );
