import type { Json } from '../../admin/admin-endpoint.ts';
import type { CandidateResponse } from '../../admin/endpoints/candidate.ts';
import { isMap } from '../../plan/schema/schema-walk.ts';
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
  const { state, requests, same, changed, unknown } = body;
  const isReport =
    ['none', 'active', 'rejected'].includes(String(state)) &&
    [requests, same].every(Number.isSafeInteger) &&
    [changed, unknown].every((counts) => isMap(counts) && Number.isSafeInteger(counts['total']));
  if (status !== 200 || !isReport) throw foreignResponse(url, status);
  return body as unknown as CandidateBody;
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
