import type { Problem } from '../../problem/problem.ts';
import { redactSource } from '../../problem/redaction.ts';
import { redactManifestText } from '../../problem/secret-text.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';
import { streamJsonWithList } from '../json-stream.ts';

/** A longer file is cut: the redaction of this many lines takes a few milliseconds. */
const MAX_LINES = 2_000;
const MAX_FILES = 50;
const MAX_PROBLEMS = 500;

/** Reports the text of the active manifest or, if the saved one was rejected, of the saved one with its problems. */
export function manifest(_request: AdminRequest, { activeManifest, reloader }: AdminContext): AdminResponse {
  const { lastOutcome } = reloader;
  const isRejected = lastOutcome?.kind === 'rejected';
  const { problems, sources } = isRejected ? lastOutcome : activeManifest();
  const positions = problems.slice(0, MAX_PROBLEMS).map(positionOf);
  const head = {
    state: isRejected ? 'rejected' : 'active',
    problems: positions,
    problem_count: problems.length,
  } as const;
  const files = sources
    .values()
    .take(MAX_FILES)
    .map(({ path, text }) => fileOf(path, text, problems));
  return largeJsonResponse(streamJsonWithList(head, 'files', files));
}

export interface ManifestText {
  readonly state: 'active' | 'rejected';
  readonly problems: readonly ReturnType<typeof positionOf>[];
  readonly problem_count: number;
  readonly files: readonly ReturnType<typeof fileOf>[];
}

function positionOf({ file, range, severity, rule, message }: Problem) {
  return { file, line: range.line, column: range.column, severity, rule, message };
}

/** Redacts before it cuts, because a problem may begin in one line and end in another. */
function fileOf(file: string, text: string, problems: readonly Problem[]) {
  const own = problems.filter((problem) => problem.file === file && problem.isSecret);
  const lines = redactSource(text, own).split(/\r?\n/);
  return {
    file,
    text: redactManifestText(lines.slice(0, MAX_LINES).join('\n')),
    omitted_lines: Math.max(0, lines.length - MAX_LINES),
  };
}
