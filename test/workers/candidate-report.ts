import { expect } from 'vitest';
import { eventually } from '../support/site.ts';
import type { WorkerSite } from '../support/worker-site.ts';

/** The part of the report of a candidate that these tests read. */
export interface CandidateReport {
  readonly state: string;
  readonly active_hash: string;
  readonly requests: number;
  readonly same: number;
  readonly errors: number;
  readonly unknown: { readonly total: number; readonly reasons: Record<string, number> };
  readonly skipped: { readonly total: number; readonly reasons: Record<string, number> };
  readonly changed: {
    readonly total: number;
    readonly kinds: Record<string, number>;
    readonly ungrouped: number;
    readonly groups: readonly {
      readonly kind: string;
      readonly requests: number;
      readonly callers: number;
      readonly route: string;
      readonly witness: { readonly path: string } | null;
    }[];
  };
}

/** Returns the report. Its sums agree at any time. */
export async function readReport({ adminUrl }: Pick<WorkerSite, 'adminUrl'>): Promise<CandidateReport> {
  const report: CandidateReport = JSON.parse(await (await fetch(`${adminUrl}/candidate`)).text());
  const { requests, same, unknown, changed } = report;
  expect(requests).toBe(same + unknown.total + changed.total);
  expect(changed.groups.reduce((sum, group) => sum + group.requests, changed.ungrouped)).toBe(changed.total);
  return report;
}

/** Returns the report after exactly this many requests were compared, skipped or failed. */
export async function readReportAfter(site: Pick<WorkerSite, 'adminUrl'>, count: number): Promise<CandidateReport> {
  let report = await readReport(site);
  const counted = () => report.requests + report.skipped.total + report.errors;
  await eventually(`${count} requests are counted: ${JSON.stringify(report)}`, async () => {
    report = await readReport(site);
    return counted() >= count;
  });
  expect(counted()).toBe(count);
  return report;
}
