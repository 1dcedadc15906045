import { type Answer, data, found } from '../answer.ts';
import { audit } from '../audit.ts';
import { type Call, text, type User } from '../call.ts';
import type { JobOutput, JobRun, Jobs } from '../jobs.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

/** The stand-in for document analysis. */
export function aiRoutes(store: Store, jobs: Jobs): readonly Route[] {
  return [
    ['POST', '/api/ai/analyses', 'protected', (call, user) => analyse(store, jobs, call, user)],
    ['GET', '/api/ai/jobs/:job_id', 'protected', (call, user) => jobs.show(call, user, 'ai-analysis')],
  ];
}

/** The job: the analysis of the document whose uuid is the input. */
export function analyseDocument(store: Store, run: JobRun): JobOutput {
  return { result: analysis(run.input, textOf(store, run.input, run.companyId)) };
}

async function analyse(store: Store, jobs: Jobs, call: Call, user: User): Promise<Answer> {
  const uuid = text(await call.json(), 'document_uuid');
  const content = textOf(store, uuid, user.companyId);
  if (call.query.get('async') === 'true') return jobs.start(user, 'ai-analysis', uuid);
  audit(store, user, 'ai-analysis.create', uuid);
  return data(analysis(uuid, content));
}

/** The text of a signed document or of an EDM document. */
function textOf(store: Store, uuid: string, companyId: string): string {
  const document = store.one<{ text: string }>(
    `SELECT text FROM documents WHERE uuid = ?1 AND company_id = ?2
     UNION ALL SELECT content FROM edm_documents WHERE id = ?1 AND company_id = ?2`,
    uuid,
    companyId,
  );
  return found(document, 'document').text;
}

const TOP_TERMS = 5;
const MIN_TERM_LENGTH = 4;

function analysis(uuid: string, content: string) {
  const words = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(content)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.toLowerCase());
  const counts = new Map<string, number>();
  for (const word of words.filter((candidate) => candidate.length >= MIN_TERM_LENGTH && /^\p{L}/u.test(candidate))) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const terms = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).slice(0, TOP_TERMS);
  return {
    document_uuid: uuid,
    method: 'word statistics: this sandbox counts, no language model has read the document',
    words: words.length,
    sentences: content.split(/[.!?]+(?:\s|$)/).filter((sentence) => sentence.trim() !== '').length,
    terms: terms.map(([term, count]) => ({ term, count })),
    dates: [...new Set(content.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? [])],
  };
}
