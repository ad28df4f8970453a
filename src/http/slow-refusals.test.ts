import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';
import { type SlowRefusals, slowRefusals } from './refusals.ts';

describe('refusals', () => {
  let refusals: SlowRefusals;
  let answered: string[];
  let ends: (() => void)[];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    refusals = slowRefusals();
    answered = [];
    ends = [];
  });
  afterEach(() => void vi.useRealTimers());

  async function refuse(caller: string, times = 1): Promise<void> {
    for (let n = 0; n < times; n++) {
      void refusals.pass(caller, (end) => ends.push(end)).then(() => answered.push(caller));
    }
    await setImmediate();
  }
  const countOf = (caller: string) => answered.filter((one) => one === caller).length;

  it('are answered at once, until a caller has had many', async () => {
    await refuse('a', 25);
    expect(countOf('a')).toBe(20);
    await refuse('b', 20);
    expect(countOf('b')).toBe(20);
    await vi.advanceTimersByTimeAsync(999);
    expect(countOf('a')).toBe(20);
    await vi.advanceTimersByTimeAsync(1);
    expect(countOf('a')).toBe(25);
  });

  it('are answered at once again after some time', async () => {
    await refuse('a', 21);
    await vi.advanceTimersByTimeAsync(10_001);
    await refuse('a', 20);
    expect(countOf('a')).toBe(41);
  });

  it('are not held when so many are already, of one caller or of all', async () => {
    await refuse('a', 20 + 200 + 3);
    expect(countOf('a')).toBe(20 + 3);
    for (let n = 0; n < 9; n++) await refuse(`other ${n}`, 220);
    await refuse('last', 25);
    expect(countOf('last')).toBe(25);
    await vi.advanceTimersByTimeAsync(1_000);
    await refuse('last', 5);
    expect(countOf('last')).toBe(25);
  });

  it('are held no longer when the client has gone, and leave their place', async () => {
    await refuse('a', 20 + 200);
    ends[0]?.();
    ends[0]?.();
    await setImmediate();
    expect(countOf('a')).toBe(21);
    await refuse('a', 2);
    expect(countOf('a')).toBe(22);
  });

  it('are all answered when the server stops, and held no more', async () => {
    await refuse('a', 25);
    refusals.stop();
    await setImmediate();
    expect(countOf('a')).toBe(25);
    await refuse('a', 5);
    expect(countOf('a')).toBe(30);
  });
});

describe('a client that goes on after it is refused', () => {
  const LIMIT = 10;
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ TRADEWIND_RATE_LIMIT: String(LIMIT) });
  });
  afterAll(() => service.stop());

  it('waits for its answer, and nobody else does', async () => {
    const { http } = await service.otherTenant();
    for (let n = 0; n < LIMIT + 20; n++) await http.get('/cloud/v1/regions');
    const isHeldMeanwhile = async () => {
      let answered = false;
      const refused = http.get('/cloud/v1/regions').then((answer) => {
        answered = true;
        return answer;
      });
      const others: number[] = [];
      for (let n = 0; n < 3; n++) others.push((await service.anonymous.get('/healthz')).status);
      const wasHeld = !answered;
      const { status, headers } = await refused;
      expect([status, others]).toEqual([429, [200, 200, 200]]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      return wasHeld;
    };
    const held: boolean[] = [];
    // On a machine that does other things as well, somebody else's answer may take as long.
    while (!held.includes(true) && held.length < 5) held.push(await isHeldMeanwhile());
    expect(held).toContain(true);
  });
});
