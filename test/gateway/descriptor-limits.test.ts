import { describe, expect, it } from 'vitest';
import { descriptorLimits, requiredDescriptors } from '../../src/engine/gateway/server/descriptor-limits.ts';
import { load } from '../../src/engine/load.ts';
import { worldOf } from '../support/gateway.ts';

function planOf(others: object) {
  const manifest = {
    version: 1,
    server: { limits: { connections: 700 } },
    upstreams: { up: { url: 'http://127.0.0.1:9', connections: { limit: 200 } } },
    routes: [{ id: 'all', method: 'any', path: '/**', upstream: 'up', access: 'public' }],
    ...others,
  };
  const { plan, problems } = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf());
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('; '));
  return plan;
}

describe('the limits of open connections', () => {
  it.each([
    ['without the admin API', {}],
    ['with the admin API', { admin: { listen: '127.0.0.1:0' } }],
  ])('are those of the manifest whenever the descriptors suffice, %s', (_name, others) => {
    const plan = planOf(others);
    const required = requiredDescriptors(plan);
    const { clients, upstreams } = descriptorLimits(plan, required);
    expect(clients).toBe(700);
    expect(upstreams).toBeGreaterThanOrEqual(200);
  });

  it('leave descriptors for further workers', () => {
    const plan = planOf({});
    const required = requiredDescriptors(plan, 64);
    expect(required - requiredDescriptors(plan)).toBe(63 * 8);
    expect(descriptorLimits(plan, required, 64).clients).toBe(700);
    expect(descriptorLimits(plan, required - 1, 64).clients).toBe(699);
  });

  it('are lower with one descriptor less', () => {
    const plan = planOf({});
    expect(descriptorLimits(plan, requiredDescriptors(plan) - 1).clients).toBe(699);
  });
});
