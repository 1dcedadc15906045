import type { Path } from '../problem/finding.ts';
import { numbers } from './exact-numbers.ts';
import { type InexactNumbers, TOP } from './inexact-numbers.ts';
import type { Fault } from './plan.ts';
import { toFault } from './schema-error.ts';
import type { SchemaRoot } from './schema-files.ts';
import { createValidator, type Validator } from './validator.ts';

const MAX_FAULTS = 20;
/** Of a longer body the first fault is told: to find all of them may take time by the square of the length. */
const EXPLAINED_BYTES = 8_192;

/**
 * Validates a parsed value; empty when it fits. `size` is how many bytes it was; `inexact`, which of its numbers a
 * double does not hold. Throws `EFFORT_SPENT` where the work is limited.
 */
export type Judge = (value: unknown, size: number, inexact?: InexactNumbers) => readonly Fault[];

export interface Judges {
  /** The judge by the schema at a path of the root. Throws a sentence when that does not compile. */
  readonly judgeAt: (path: Path) => Judge;
  readonly validator: Validator;
}

/** Makes the judges of the schemas in a root. */
export function createJudges(root: SchemaRoot): Judges {
  const first = createValidator(root, false);
  const all = createValidator(root, true);
  const judgeAt = (path: Path): Judge => {
    const fits = first.compile(path);
    const explain = all.compile(path);
    return (value, size, inexact) => {
      numbers.inexact = inexact;
      numbers.violation = undefined;
      const isFitting = fits(value, contextOf(value, inexact));
      // It would keep the value in memory.
      numbers.inexact = undefined;
      if (isFitting) return inexactFaults();
      const errors = size > EXPLAINED_BYTES || explain(value) ? fits.errors : explain.errors;
      return (errors ?? []).slice(0, MAX_FAULTS).map(toFault);
    };
  };
  return { judgeAt, validator: first };
}

function inexactFaults(): readonly Fault[] {
  const { violation } = numbers;
  return violation === undefined ? [] : [toFault(violation)];
}

/** A validator knows the holder of a member or an item; the top value has none, so the caller passes it. */
function contextOf(value: unknown, inexact: InexactNumbers | undefined) {
  if (inexact === undefined) return undefined;
  return { instancePath: '', parentData: TOP, parentDataProperty: '', rootData: value as object, dynamicAnchors: {} };
}
