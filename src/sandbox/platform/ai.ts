import { type Answer, data, found } from '../answer.ts';
import { audit } from '../audit.ts';
import type { Route, UserCall } from '../call.ts';
import { text } from '../fields.ts';
import { type Job, showJob, startJob } from '../jobs.ts';
import type { Store } from '../store.ts';

/** The stand-in for the analysis of signed documents. */
export const aiRoutes: readonly Route[] = [
  ['POST /api/ai/analyses', 'protected', analyse],
  ['GET /api/ai/jobs/:id', 'protected', showJob('ai-analysis')],
];

/** The job: the analysis of the document whose uuid is the input. */
export function* analyseDocument(store: Store, { input, companyId }: Job): Generator<object> {
  yield { result: analysis(input, textOf(store, input, companyId)) };
}

function analyse(call: UserCall): Answer {
  const { store, user, query, fields } = call;
  const uuid = text(fields, 'document_uuid');
  const content = textOf(store, uuid, user.companyId);
  if (query.get('async') === 'true') return startJob(call, 'ai-analysis', uuid);
  audit(store, user, 'ai-analysis.create', uuid);
  return data(analysis(uuid, content));
}

function textOf(store: Store, uuid: string, companyId: string): string {
  const select = 'SELECT text FROM document WHERE id = ? AND company_id = ?';
  return found(store.one<{ text: string }>(select, uuid, companyId), 'document').text;
}

function analysis(uuid: string, content: string): object {
  return {
    document_uuid: uuid,
    method: 'counted: no language model has read the document',
    words: content.match(/\p{L}+/gu)?.length ?? 0,
    sentences: content.match(/[.!?](?=\s|$)/g)?.length ?? 0,
    dates: content.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? [],
  };
}
