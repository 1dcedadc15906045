import type { Json } from '../../admin/admin-endpoint.ts';
import { CANDIDATE_STATES } from '../../admin/candidate-report.ts';
import type { CandidateResponse } from '../../admin/endpoints/candidate.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import type { ChangeCounts } from '../fail-on.ts';
import { type AdminClient, type AdminReply, foreignResponse } from './admin-client.ts';

/** The report of a candidate, as the admin API sends it. */
export type CandidateBody = Json<CandidateResponse>;

/** Fetches the report. */
export async function fetchStatus(client: AdminClient): Promise<CandidateBody> {
  return statusOf(await client.request('GET', '/candidate'), client);
}

/** Returns the report of a response. Throws a `CommandError` if the response is not from a gateway with candidates. */
export function statusOf({ status, body }: AdminReply, { url }: Pick<AdminClient, 'url'>): CandidateBody {
  if (status !== 200 || !isReport(body)) throw foreignResponse(url, status);
  return body as unknown as CandidateBody;
}

/** Tests the members that the formats read: another version of the gateway may have other ones. */
function isReport({ state, requests, same, errors, problems, changed, unknown, skipped }: AdminReply['body']): boolean {
  const [isCount, isCounts] = [Number.isSafeInteger, (value: unknown) => isMap(value) && isCount(value['total'])];
  return (
    CANDIDATE_STATES.some((known) => known === state) &&
    [requests, same, errors].every(isCount) &&
    [changed, unknown, skipped].every(isCounts) &&
    [problems, memberOf(changed, 'groups')].every(Array.isArray) &&
    [memberOf(changed, 'kinds'), memberOf(unknown, 'reasons'), memberOf(skipped, 'reasons')].every(isMap)
  );
}

function memberOf(value: unknown, name: string): unknown {
  return isMap(value) ? value[name] : undefined;
}

/** Requests whose decisions were compared: those with an unknown decision were not. */
export function comparedCount({ same, changed }: CandidateBody): number {
  return same + changed.total;
}

/** True if the saved file of `--candidate` is not compared. An earlier version of it may be. */
export function hasSavedProblem({ reason, problem_count }: CandidateBody): boolean {
  return reason !== null || problem_count > 0;
}

/** Returns the counts that `--fail-on` is about. */
export function countsOf({ requests, unknown, changed }: CandidateBody): ChangeCounts {
  return { requests, unknown: unknown.total, kinds: changed.kinds };
}
