import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTurns } from './turns.ts';

/** Takes places for accounts by their names, in this order, and notes whose turn it was. */
function taking(places: number, options?: Parameters<typeof createTurns>[1]) {
  const turns = createTurns(places, options);
  const served: number[] = [];
  const leaves: { account: number; leave: () => void }[] = [];
  return {
    turns,
    served,
    async want(...accounts: number[]) {
      for (const account of accounts) {
        void turns.take(account).then((leave) => {
          const since = performance.now();
          served.push(account);
          leaves.push({ account, leave: () => leave(performance.now() - since) });
        });
      }
      await setImmediate();
    },
    async leave(account: number) {
      const [one] = leaves.splice(
        leaves.findIndex((each) => each.account === account),
        1,
      );
      one?.leave();
      await setImmediate();
    },
  };
}

it('gives an account at most half of the places, even if nobody else wants one', async () => {
  const { want, leave, served } = taking(5);
  await want(1, 1, 1, 1);
  expect(served).toEqual([1, 1]);
  await want(2);
  expect(served).toEqual([1, 1, 2]);
  await leave(1);
  expect(served).toEqual([1, 1, 2, 1]);
});

it('gives the one place there is to anybody', async () => {
  const { want, served } = taking(1);
  await want(1, 2);
  expect(served).toEqual([1]);
});

it('lets accounts take turns, however many of each wait', async () => {
  const { want, leave, served } = taking(2);
  await want(1, 2, 1, 1, 1, 2, 2, 3, 3);
  for (const account of [1, 2, 1, 2, 3, 1]) await leave(account);
  expect(served).toEqual([1, 2, 1, 2, 3, 1, 2, 3]);
});

it('takes a place back when the work fails', async () => {
  const turns = createTurns(1);
  await expect(turns.run(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await turns.run(2, async () => 'done')).toBe('done');
});

it('refuses who has waited too long, and goes on', async () => {
  const turns = createTurns(1, { patienceMs: 1 });
  const leave = await turns.take(1);
  await expect(turns.take(2)).rejects.toThrow('wait for the database');
  leave();
  expect(await turns.run(2, async () => 'done')).toBe('done');
});

it('has room for so many of each account, and lets them share it if there are many', async () => {
  const { turns, want } = taking(2);
  await want(1, 2, ...Array<number>(10).fill(1));
  const room = (account: number, each: number, all = 100) => turns.hasRoom(account, { each, all });
  expect([room(1, 10), room(1, 11), room(2, 1)]).toEqual([false, true, true]);
  expect([room(1, 11, 10), room(2, 11, 1)]).toEqual([false, true]);
  await want(...Array<number>(5).fill(2));
  expect([room(2, 11, 10), room(2, 11, 11), room(3, 11, 1)]).toEqual([false, true, true]);
});

describe('places that rest', () => {
  afterEach(() => void vi.useRealTimers());

  function resting(options: { restTimes?: number; longestRestMs?: number } = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { want, leave, served } = taking(4, { most: 2, restAfterMs: 5, ...options });
    const pass = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      await setImmediate();
    };
    return { want, leave, served, pass };
  }

  it('do so for as long as they were in use, if others of the account wait', async () => {
    const { want, leave, served, pass } = resting();
    await want(1, 1, 1, 1);
    await pass(40);
    await leave(1);
    await pass(39);
    expect(served).toEqual([1, 1]);
    await pass(1);
    expect(served).toEqual([1, 1, 1]);
    await pass(1);
    // In use for 81.
    await leave(1);
    await pass(80);
    expect(served).toEqual([1, 1, 1]);
    await pass(1);
    expect(served).toEqual([1, 1, 1, 1]);
  });

  it('keep no other account from them', async () => {
    const { want, leave, served, pass } = resting();
    await want(1, 1, 1, 2, 2, 3, 3);
    await pass(40);
    await leave(1);
    expect(served).toEqual([1, 1, 2, 2, 3]);
    await want(4);
    await leave(1);
    expect(served).toEqual([1, 1, 2, 2, 3, 3]);
    await leave(2);
    expect(served).toEqual([1, 1, 2, 2, 3, 3, 4]);
    await leave(2);
    await pass(40);
    expect(served).toEqual([1, 1, 2, 2, 3, 3, 4, 1]);
  });

  it('do not after what was short, nor for a second one that comes later', async () => {
    const { want, leave, served, pass } = resting();
    await want(1, 1, 1);
    await pass(4);
    await leave(1);
    expect(served).toEqual([1, 1, 1]);
    await pass(40);
    await leave(1);
    await want(1);
    expect(served).toEqual([1, 1, 1, 1]);
  });

  it('do so for a multiple of that, if it is said', async () => {
    const { want, leave, served, pass } = resting({ restTimes: 2 });
    await want(1, 1, 1);
    await pass(40);
    await leave(1);
    await pass(79);
    expect(served).toEqual([1, 1]);
    await pass(1);
    expect(served).toEqual([1, 1, 1]);
  });

  it.each([
    [{}, 1_000],
    [{ longestRestMs: 500 }, 500],
  ])('do so for a second at most, or for as long as is said: %j', async (options, longest) => {
    const { want, leave, served, pass } = resting(options);
    await want(1, 1, 1);
    await pass(20_000);
    await leave(1);
    await pass(longest - 1);
    expect(served).toEqual([1, 1]);
    await pass(1);
    expect(served).toEqual([1, 1, 1]);
  });
});

describe('an account that is alone', () => {
  afterEach(() => void vi.useRealTimers());

  it('is so until another one has a turn, and again ten seconds after it; the server itself is nobody', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
    const { isAlone, run } = createTurns(4);
    const turnOf = (account: number | undefined) => run(account, async () => {});
    await turnOf(1);
    await turnOf(undefined);
    expect([isAlone(1), isAlone(2)]).toEqual([true, false]);
    await turnOf(2);
    await turnOf(1);
    expect([isAlone(1), isAlone(2)]).toEqual([false, false]);
    vi.advanceTimersByTime(9_999);
    await turnOf(1);
    expect(isAlone(1)).toBe(false);
    vi.advanceTimersByTime(1);
    expect([isAlone(1), isAlone(2), isAlone(3)]).toEqual([true, false, false]);
  });

  it('has places that never rest; those of others do so even if nobody waits yet', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
    let alone = true;
    const { want, leave, served } = taking(2, {
      restAfterMs: 5,
      restTimes: 2,
      restAlways: true,
      isAlone: () => alone,
    });
    await want(1);
    vi.advanceTimersByTime(40);
    await leave(1);
    await want(1);
    expect(served).toHaveLength(2);
    alone = false;
    vi.advanceTimersByTime(40);
    await leave(1);
    await want(1);
    await vi.advanceTimersByTimeAsync(79);
    await setImmediate();
    expect(served).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await setImmediate();
    expect(served).toHaveLength(3);
  });
});
