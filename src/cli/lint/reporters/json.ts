import type { Problem } from '../../../engine/problem/problem.ts';
import { countOf, type Reporter, toJson, withFingerprints } from './lint-report.ts';

/** Formats a report for programs. `schema/lint-report.schema.json` describes the members. */
export const json: Reporter = (report) =>
  toJson({
    version: 1,
    gateway: report.version,
    files: report.sources.map(({ path }) => path),
    errors: countOf(report, 'error'),
    warnings: countOf(report, 'warning'),
    infos: countOf(report, 'info'),
    problems: withFingerprints(report).map(({ problem, fingerprint }) => toEntry(problem, fingerprint)),
  });

function toEntry({ rule, severity, file, range, message, related, witness }: Problem, fingerprint: string): object {
  return {
    ...{ rule, severity, file, ...range, message, fingerprint },
    ...(related && {
      related: { ...(related.file && { file: related.file }), ...related.range, message: related.message },
    }),
    ...(witness && { witness: { ...witness, route: witness.route ?? null } }),
  };
}
