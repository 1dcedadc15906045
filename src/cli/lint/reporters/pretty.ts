import { formatProblems } from '../../../report/text.ts';
import type { Reporter } from './lint-report.ts';

/** Formats each problem with a code frame, for a terminal. */
export const pretty: Reporter = ({ sources, problems, maxProblems }, colour) =>
  formatProblems(problems, sources, colour, maxProblems);
