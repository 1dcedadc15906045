import { findingAt, type Rule } from '../rule.ts';

export const invariantExceptionExpired: Rule = {
  id: 'invariant-exception-expired',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Its author planned to remove the exception by this date.',
  *find({ manifest, today }) {
    const invariants = Array.isArray(manifest.invariants) ? manifest.invariants : [];
    for (const [index, { except = [] }] of invariants.entries())
      for (const [position, exception] of except.entries()) {
        if (typeof exception === 'string' || exception.until === undefined || exception.until >= today) continue;
        const path = ['invariants', index, 'except', position, 'until'];
        yield findingAt(path, 'this date has passed; remove the exception, or set a later date');
      }
  },
};
