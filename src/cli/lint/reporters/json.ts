import type { Problem } from '../../../problem/problem.ts';
import { countOf, type Reporter, toJson, withFingerprints } from './lint-report.ts';

/** For programs; `schema/lint-report.schema.json` says what each member is. */
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
