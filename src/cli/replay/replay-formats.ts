import type { Document } from '../../engine/manifest/document.ts';
import { toJson } from '../lint/reporters/lint-report.ts';
import { formatReplayJunit } from './replay-junit.ts';
import { formatReplayMarkdown } from './replay-markdown.ts';
import { formatReplaySarif } from './replay-sarif.ts';
import type { ReplaySummary } from './replay-summary.ts';
import { formatReplayText } from './replay-text.ts';

/** The result of a replay, with all that a format may need. */
export interface ReplayResult {
  readonly summary: ReplaySummary;
  /** The conditions of `--fail-on` that occurred. */
  readonly failures: readonly string[];
  /** The new manifest. */
  readonly document: Document;
}

type FormatReplay = (result: ReplayResult, colour: boolean) => string;

export const REPLAY_FORMATS = {
  pretty: formatReplayText,
  json: formatReplayJson,
  markdown: formatReplayMarkdown,
  sarif: formatReplaySarif,
  junit: formatReplayJunit,
} as const satisfies Record<string, FormatReplay>;

export type ReplayFormat = keyof typeof REPLAY_FORMATS;

/** docs/replay.md describes the members. */
function formatReplayJson({ summary: { counts: _counts, next, ...summary } }: ReplayResult): string {
  return toJson({ version: 1, new: next, ...summary });
}
