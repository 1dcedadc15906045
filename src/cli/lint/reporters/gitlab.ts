import type { Severity } from '../../../engine/problem/finding.ts';
import { fullMessage, type Reporter, toJson, withFingerprints } from './lint-report.ts';

/** An error is critical because the gateway does not serve the manifest. */
const SEVERITIES = { error: 'critical', warning: 'minor', info: 'info' } as const satisfies Record<Severity, string>;

/** Formats a Code Quality report for GitLab CI/CD. */
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
