import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Breaker } from '../../src/gateway/upstream/breaker.ts';

const RULE = { failures: 3, pauseMs: 100 };

function breaker() {
  const clock = { now: 0 };
  const news: string[] = [];
  return {
    clock,
    news,
    breaker: new Breaker(
      RULE,
      (state) => news.push(state),
      () => clock.now,
    ),
  };
}

describe('a breaker', () => {
  it('counts failures in a row alone', () => {
    const { breaker: it } = breaker();
    for (const step of ['failed', 'failed', 'succeeded', 'failed', 'failed'] as const) it[step](false);
    expect(it.state).toBe('closed');
    it.failed(false);
    expect(it.state).toBe('open');
  });

  it('lets one trial through after the pause, and nothing beside it', () => {
    const { breaker: it, clock } = breaker();
    for (let count = 0; count < 3; count += 1) it.failed(false);
    clock.now = 99;
    expect(it.admits).toBe(false);
    clock.now = 100;
    expect([it.admits, it.state]).toEqual([true, 'half-open']);
    it.begin();
    expect([it.admits, it.state]).toEqual([false, 'half-open']);
  });

  it('pauses again when the trial fails, and closes when it goes well', () => {
    const { breaker: it, clock, news } = breaker();
    for (let count = 0; count < 3; count += 1) it.failed(false);
    clock.now = 100;
    it.failed(it.begin());
    expect([it.admits, it.state]).toEqual([false, 'open']);
    clock.now = 200;
    it.begin();
    it.succeeded();
    expect([it.admits, it.state]).toEqual([true, 'closed']);
    expect(news).toEqual(['open', 'open', 'closed']);
  });

  it('tries with another one when nothing was learnt of the first', () => {
    const { breaker: it, clock } = breaker();
    for (let count = 0; count < 3; count += 1) it.failed(false);
    clock.now = 100;
    it.released(it.begin());
    expect(it.admits).toBe(true);
  });

  it('does not try twice at once when one that began before it opened ends meanwhile', () => {
    const { breaker: it, clock } = breaker();
    for (let count = 0; count < 3; count += 1) it.failed(false);
    clock.now = 100;
    it.begin();
    it.released(false);
    it.failed(false);
    expect(it.admits).toBe(false);
  });

  it('does not pause longer for what began before it opened and fails late', () => {
    const { breaker: it, clock } = breaker();
    for (let count = 0; count < 3; count += 1) it.failed(false);
    clock.now = 90;
    it.failed(false);
    clock.now = 100;
    expect(it.admits).toBe(true);
  });

  it('never stays shut: whatever happened, it admits a request after a pause without a trial', () => {
    const step = fc.constantFrom('begin', 'succeeded', 'failed', 'released', 'wait');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { breaker: it, clock } = breaker();
        for (const what of steps) {
          if (what === 'wait') clock.now += 30;
          else if (what !== 'begin' || it.admits) it[what](true);
        }
        it.released(true);
        clock.now += RULE.pauseMs;
        expect(it.admits).toBe(true);
      }),
    );
  });
});
