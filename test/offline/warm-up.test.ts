import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { warmUp } from '../../src/prove/offline/warm-up.ts';
import { createWarmUpTraffic, startWarmUpUpstream } from '../../src/prove/offline/warm-up-traffic.ts';

let upstream: Awaited<ReturnType<typeof startWarmUpUpstream>>;
beforeAll(async () => {
  upstream = await startWarmUpUpstream();
});
afterAll(() => upstream.close());

describe('the warm-up', () => {
  it('serves all its requests, also in a thread that received them', async () => {
    const traffic = createWarmUpTraffic(upstream.url);
    expect(traffic.requests.length).toBeGreaterThan(2);
    await warmUp(structuredClone(traffic));
  });

  it('ends early when the process stops', async () => {
    const { input } = createWarmUpTraffic(upstream.url);
    await warmUp({ input, requests: ['GET /none HTTP/1.1\r\nHost: gateway\r\n\r\n'] }, AbortSignal.abort());
  });

  it('fails if a request is not served', async () => {
    const { input } = createWarmUpTraffic(upstream.url);
    await expect(warmUp({ input, requests: ['GET /none HTTP/1.1\r\nHost: gateway\r\n\r\n'] })).rejects.toThrow(
      'a request of the warm-up was not served',
    );
  });
});
