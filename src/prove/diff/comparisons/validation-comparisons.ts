import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Comparisons } from '../difference.ts';
import { invalidWitness } from '../witnesses/body-requests.ts';
import { changedSwitches } from './switch-comparisons.ts';

export const validationComparisons: Comparisons = {
  'validation-reported': {
    severity: 'warning',
    description: 'A route only reports invalid requests, and forwards them.',
    find: (sides) => changedSwitches(sides, REPORT, true, 'now only reports invalid requests (it refused them)'),
  },
  'validation-enforced': {
    severity: 'info',
    description: 'A route now refuses invalid requests.',
    find: (sides) => changedSwitches(sides, REPORT, false, 'now refuses invalid requests (it only reported them)'),
  },
};

const REPORT = {
  key: 'validation',
  isOn: ({ validation }: RouteEntry) => validation === 'report',
  witnessOf: invalidWitness,
};
