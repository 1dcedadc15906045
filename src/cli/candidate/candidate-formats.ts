import { formatCandidateMarkdown } from './candidate-markdown.ts';
import type { CandidateBody } from './candidate-report.ts';
import { formatCandidateText } from './candidate-text.ts';

type CandidateFormat = (status: CandidateBody, colour: boolean) => string;

/** The formats of a report. JSON is that of the admin API. */
export const CANDIDATE_FORMATS = {
  pretty: formatCandidateText,
  json: (status) => `${JSON.stringify(status, null, 2)}\n`,
  markdown: formatCandidateMarkdown,
} as const satisfies Record<string, CandidateFormat>;
