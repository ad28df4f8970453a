import { describe, expect, it } from 'vitest';
import { restAfterWork, type Usage } from './serve.ts';

const MB = 2 ** 20;
/** Answers at looks, fifteen seconds apart, with such a share of a processor between them; the heap is what it is then. */
function process(heap = 100) {
  let now: Usage = { cpuMicros: 0, heapBytes: heap * MB, usedBytes: 40 * MB };
  const isDue = restAfterWork(now);
  return (looks: number, { cpu = 0, heap = now.heapBytes / MB, used = 40 } = {}) =>
    Array.from({ length: looks }, () => {
      now = { cpuMicros: now.cpuMicros + cpu * 15_000_000, heapBytes: heap * MB, usedBytes: used * MB };
      return isDue(now);
    });
}

describe('memory', () => {
  it('is given back after a minute of rest, once', () => {
    const pass = process();
    expect(pass(4)).toEqual([false, false, false, true]);
    expect(pass(300, { heap: 50 })).not.toContain(true);
  });

  it('is given back while only timers run, and kept while the process works now and then', () => {
    expect(process()(4, { cpu: 0.05 })).toContain(true);
    const pass = process();
    for (let minute = 0; minute < 5; minute++) {
      expect(pass(3)).not.toContain(true);
      expect(pass(1, { cpu: 0.07 })).not.toContain(true);
    }
  });

  it('is given back again after more work', () => {
    const pass = process();
    pass(4);
    pass(1, { heap: 50 });
    expect(pass(2, { cpu: 0.5, heap: 90 })).not.toContain(true);
    expect(pass(4)).toEqual([false, false, false, true]);
  });

  it('is not given back again before another minute of rest, although the heap grows', () => {
    const pass = process();
    pass(4);
    pass(1, { heap: 50 });
    expect(pass(3, { heap: 90 })).toEqual([false, false, true]);
  });

  it('is kept if little can be had, or if the pause would be long', () => {
    expect(process(15)(300)).not.toContain(true);
    expect(process(500)(300, { used: 400 })).not.toContain(true);
  });
});
