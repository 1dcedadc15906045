import { formatProblems } from '../../format.ts';
import type { Reporter } from './lint-report.ts';

/** Formats each problem with a code frame, for a terminal. */
export const pretty: Reporter = ({ sources, problems }, colour) =>
  sources
    .map(({ path, text }) =>
      formatProblems(
        problems.filter(({ file }) => file === path),
        text,
        colour,
      ),
    )
    .filter((part) => part !== '')
    .join('\n');
