import { recordAuditEvent } from '../audit.ts';
import { textField } from '../fields.ts';
import { enqueueJob, type SandboxJob, showJob } from '../jobs.ts';
import { type AuthenticatedRequest, jsonBody, type SandboxRoute } from '../request.ts';
import { dataResponse, requireFound, type SandboxResponse } from '../response.ts';
import { SAMPLES } from '../samples.ts';
import type { Store } from '../store.ts';

/** Routes that analyse signed documents. */
export const aiRoutes: readonly SandboxRoute[] = [
  [
    'POST /api/ai/analyses',
    'protected',
    requestAnalysis,
    {
      summary: 'Analyse a document, with async=true in a job',
      query: ['async'],
      body: jsonBody({ document_uuid: SAMPLES.documentUuid }),
    },
  ],
  ['GET /api/ai/jobs/:id', 'protected', showJob('ai-analysis'), { summary: 'Poll an analysis' }],
];

/** Runs the analysis job. Its input is the uuid of a document. */
export function* analyseDocument(store: Store, { input, companyId }: SandboxJob): Generator<object> {
  yield { result: analyseText(input, documentText(store, input, companyId)) };
}

function requestAnalysis(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, query, fields } = request;
  const uuid = textField(fields, 'document_uuid');
  const content = documentText(store, uuid, user.companyId);
  if (query.get('async') === 'true') return enqueueJob(request, 'ai-analysis', uuid);
  recordAuditEvent(store, user, 'ai-analysis.create', uuid);
  return dataResponse(analyseText(uuid, content));
}

function documentText(store: Store, uuid: string, companyId: string): string {
  const select = 'SELECT text FROM document WHERE id = ? AND company_id = ?';
  return requireFound(store.one<{ text: string }>(select, uuid, companyId), 'document').text;
}

function analyseText(uuid: string, content: string): object {
  return {
    document_uuid: uuid,
    method: 'counting; no language model read the document',
    words: content.match(/\p{L}+/gu)?.length ?? 0,
    sentences: content.match(/[.!?](?=\s|$)/g)?.length ?? 0,
    dates: content.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? [],
  };
}
