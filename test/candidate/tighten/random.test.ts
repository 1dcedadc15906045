import fc from 'fast-check';
import { describe, it } from 'vitest';
import { anyManifest } from '../../support/any-manifest.ts';
import { runs } from '../../support/runs.ts';
import { anyRequest, anyStyle, checkProposals } from './property.ts';

describe('proposals for random manifests and requests', () => {
  it('load without errors, allow every logged request as before, open nothing, and leave nothing to propose', async () => {
    const anyCase = fc.record({
      manifest: anyManifest,
      style: anyStyle,
      requests: fc.array(anyRequest, { minLength: 1, maxLength: 25 }),
      others: fc.array(anyRequest, { minLength: 10, maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(anyCase, async (one) => void (await checkProposals(one))),
      { numRuns: runs(60) },
    );
  });
});
