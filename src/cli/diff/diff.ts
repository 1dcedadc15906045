import type { Plan } from '../../engine/plan/plan.ts';
import { diff } from '../../prove/diff/diff-manifests.ts';
import { createDiffSide, type DiffSide } from '../../prove/diff/side.ts';
import { parseArguments } from '../parse-arguments.ts';
import { type Terminal, UsageError, type Verb } from '../terminal.ts';
import { DIFF_FORMATS, DIFF_OPTIONS, hasFailing, readDiffOptions } from './diff-formats.ts';
import { loadRevision } from './revision.ts';

export const verb: Verb = {
  usage: 'signing-gateway diff OLD NEW [-f text|json|markdown] [--fail-on error|warning|info|never]',
  options: DIFF_OPTIONS,
  examples: [
    'signing-gateway diff main:gateway.yaml gateway.yaml',
    'signing-gateway diff old.yaml new.yaml -f markdown --fail-on error > comment.md',
  ],
  async run(terminal) {
    const { values, positionals } = parseArguments(terminal.args, DIFF_OPTIONS);
    const [old, next, ...more] = positionals;
    if (old === undefined || next === undefined || more.length > 0) throw new UsageError('name two manifests: OLD NEW');
    const { failOn, format } = readDiffOptions(values);
    const oldSide = readSide(old, terminal);
    const newSide = readSide(next, terminal, oldSide?.plan);
    if (oldSide === undefined || newSide === undefined) return 2;
    const differences = diff(oldSide, newSide);
    terminal.out(DIFF_FORMATS[format]({ old, next, differences }, terminal.outColour));
    return hasFailing(differences, failOn) ? 1 : 0;
  },
};

function readSide(name: string, terminal: Terminal, other?: Plan): DiffSide | undefined {
  const loaded = loadRevision(name, terminal, other);
  return loaded && createDiffSide(loaded.planned, loaded.readFile);
}
