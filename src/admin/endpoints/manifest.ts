import { redactRanges } from '../../check/lint/secret-text.ts';
import type { Source } from '../../engine/manifest/source.ts';
import type { Problem } from '../../engine/problem/problem.ts';
import { largeJsonResponse, openJsonObject, type Respond } from '../admin-endpoint.ts';
import type { FileDisplay } from '../manifest-display.ts';

const MAX_FILES = 50;
const MAX_PROBLEMS = 500;
/** A line may be a megabyte long, so the text is redacted and written in parts. */
const PART_LENGTH = 8_192;

/** Reports the text of the active manifest or, if the saved one was rejected, of the saved one with its problems. */
export const manifest: Respond = async (_request, { activeManifest, reloader }, { displays }) => {
  const { lastOutcome } = reloader;
  const isRejected = lastOutcome?.kind === 'rejected';
  const displayed = isRejected ? lastOutcome : activeManifest();
  const head = headOf(isRejected ? 'rejected' : 'active', displayed.problems);
  return largeJsonResponse(streamManifest(head, displayed.sources.slice(0, MAX_FILES), await displays.of(displayed)));
};

export type ManifestText = ReturnType<typeof headOf> & {
  readonly files: readonly { readonly file: string; readonly text: string; readonly omitted_lines: number }[];
};

function headOf(state: 'active' | 'rejected', problems: readonly Problem[]) {
  return { state, problems: problems.slice(0, MAX_PROBLEMS).map(positionOf), problem_count: problems.length };
}

function positionOf({ file, range, severity, rule, message }: Problem) {
  return { file, line: range.line, column: range.column, severity, rule, message };
}

/** Yields the JSON of a `ManifestText` in chunks. */
function* streamManifest(
  head: ReturnType<typeof headOf>,
  sources: readonly Source[],
  displays: readonly FileDisplay[],
): Generator<string> {
  yield `${openJsonObject(head)}"files":[`;
  for (const [index, { path, text }] of sources.entries()) {
    const { secrets, end, omittedLines } = displays[index] as FileDisplay;
    yield `${index === 0 ? '' : ','}${openJsonObject({ file: path, omitted_lines: omittedLines })}"text":"`;
    for (let start = 0, next = 0; start < end; start = next) {
      next = Math.min(end, start + PART_LENGTH);
      // A line break of two characters stays in one part.
      if (text[next - 1] === '\r' && next < end) next += 1;
      const part = redactRanges(text, secrets, start, next).replaceAll('\r\n', '\n');
      yield JSON.stringify(part).slice(1, -1);
    }
    yield '"}';
  }
  yield ']}\n';
}
