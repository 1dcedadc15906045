import type { Plan } from '../../src/engine/plan/plan.ts';
import { runToEnd } from '../../src/engine/plan/sliced-work.ts';
import { comparePlansSliced, type PlanChanges } from '../../src/process/reload/plan-changes.ts';

export function comparePlans(old: Plan, next: Plan): PlanChanges {
  return runToEnd(comparePlansSliced(old, next));
}
