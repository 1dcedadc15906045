import { readText } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { diff } from '../../prove/diff/diff-manifests.ts';
import { createDiffSide, type DiffSide } from '../../prove/diff/side.ts';
import { type Allowance, readAllowances } from '../../prove/proof/allowances.ts';
import { PROPERTIES, proveChange } from '../../prove/proof/prove-change.ts';
import { QuestionError } from '../../prove/question.ts';
import { readOrFail } from '../manifest-file.ts';
import { parseChoice, valueOption } from '../parse-arguments.ts';
import { defineVerb, type Terminal, UsageError } from '../terminal.ts';
import { DIFF_FORMATS, DIFF_OPTIONS, hasFailing, PROOF_FORMATS, readDiffOptions } from './diff-formats.ts';
import { loadRevision } from './revision.ts';

export const verb = defineVerb({
  usage:
    'signing-gateway diff OLD NEW [-f text|json|markdown] [--fail-on error|warning|info|never | --prove PROPERTY [--allow FILE]]',
  options: {
    ...DIFF_OPTIONS,
    prove: valueOption(
      'PROPERTY',
      'prove that the change opens nothing (no-new-access), or changes no request (equivalent)',
      {
        choices: PROPERTIES,
      },
    ),
    allow: valueOption('FILE', 'with --prove no-new-access: the accesses that are meant, a list of "when" and "why"'),
  },
  examples: [
    'signing-gateway diff main:gateway.yaml gateway.yaml',
    'signing-gateway diff old.yaml new.yaml -f markdown --fail-on error > comment.md',
    'signing-gateway diff main:gateway.yaml gateway.yaml --prove no-new-access --allow meant.yaml',
  ],
  async run(terminal, { values, positionals }) {
    const [old, next, ...more] = positionals;
    if (old === undefined || next === undefined || more.length > 0) throw new UsageError('name two manifests: OLD NEW');
    const { failOn, format } = readDiffOptions(values);
    const property = parseChoice('--prove', values.prove, PROPERTIES, undefined);
    if (property !== undefined && values['fail-on'] !== undefined)
      throw new UsageError('--prove has its own exit code; remove --fail-on');
    if (values.allow !== undefined && property !== 'no-new-access')
      throw new UsageError('--allow names accesses for a proof; write --prove no-new-access too');
    const oldSide = readSide(old, terminal);
    const newSide = readSide(next, terminal, oldSide.plan);
    if (property !== undefined) {
      const allowances = values.allow === undefined ? [] : allowancesIn(values.allow, newSide, terminal);
      const proof = await proveChange(oldSide, newSide, property, allowances);
      terminal.out(PROOF_FORMATS[format]({ old, next, allow: values.allow, proof }, terminal.outColour));
      return proof.holds ? 0 : 1;
    }
    const differences = diff(oldSide, newSide);
    terminal.out(DIFF_FORMATS[format]({ old, next, differences }, terminal.outColour));
    return hasFailing(differences, failOn) ? 1 : 0;
  },
});

function allowancesIn(path: string, next: DiffSide, { env }: Terminal): Allowance[] {
  const text = readOrFail(path, 'name a file with a list of "when" and "why"', () => readText(path));
  try {
    return readAllowances({ path, text }, next, env);
  } catch (error) {
    if (error instanceof QuestionError) throw new UsageError(`${path} is not valid: ${error.message}`);
    throw error;
  }
}

function readSide(name: string, terminal: Terminal, other?: Plan): DiffSide {
  const { planned, readFile } = loadRevision(name, terminal, 2, other);
  return createDiffSide(planned, readFile);
}
