import { expect, it, vi } from 'vitest';
import { type Admit, type ChangeFeed, createRowCache } from './changes.ts';

/** A feed whose announcements the test makes. */
function feedOf() {
  let changed: (key: string) => void = () => {};
  let missed: () => void = () => {};
  let connected = true;
  const feed: ChangeFeed = {
    connected: () => connected,
    on: (_topic, ...listeners) => {
      [changed, missed] = listeners;
    },
    close: async () => {},
  };
  const connect = (now: boolean) => {
    connected = now;
    if (now) missed();
  };
  return { feed, announce: (key: number) => changed(String(key)), connect };
}

function cacheOf(options: { misses?: boolean } = { misses: true }) {
  const rows = new Map<number, string>([[1, 'one']]);
  const load = vi.fn<(key: number) => Promise<string | undefined>>(async (key) => rows.get(key));
  const { feed, ...news } = feedOf();
  return { rows, load, cache: createRowCache(feed, 'topic', load, options), ...news };
}

it('asks once for a row that is there, and for one that is not', async () => {
  const { cache, load } = cacheOf();
  for (let n = 0; n < 3; n++) expect([await cache.get(1), await cache.get(2)]).toEqual(['one', undefined]);
  expect(load).toHaveBeenCalledTimes(2);
});

it('asks each time for one that is not there, unless told to keep that', async () => {
  const { cache, load } = cacheOf({});
  for (let n = 0; n < 3; n++) await cache.get(2);
  expect(load).toHaveBeenCalledTimes(3);
});

it('finds a row that was made after it was missed, here or by another process', async () => {
  const { cache, rows, announce } = cacheOf();
  expect([await cache.get(2), await cache.get(3)]).toEqual([undefined, undefined]);
  rows.set(2, 'two').set(3, 'three');
  cache.forget(2);
  announce(3);
  expect([await cache.get(2), await cache.get(3)]).toEqual(['two', 'three']);
});

it('does not keep a miss that a change overtook', async () => {
  const { cache, rows, load, announce } = cacheOf();
  load.mockImplementationOnce(async () => {
    rows.set(2, 'two');
    announce(2);
    return undefined;
  });
  expect([await cache.get(2), await cache.get(2)]).toEqual([undefined, 'two']);
});

it('believes neither rows nor misses while it hears no news, nor those from before', async () => {
  const { cache, rows, connect } = cacheOf();
  await Promise.all([cache.get(1), cache.get(2)]);
  connect(false);
  rows.set(1, 'other').set(2, 'two');
  expect([await cache.get(1), await cache.get(2)]).toEqual(['other', 'two']);
  connect(true);
  expect([await cache.get(1), await cache.get(2)]).toEqual(['other', 'two']);
});

it('keeps a number of misses, the newest', async () => {
  const { cache, load } = cacheOf();
  for (let key = 2; key <= 10_002; key++) await cache.get(key);
  load.mockClear();
  await cache.get(10_002);
  expect(load).not.toHaveBeenCalled();
  await cache.get(2);
  expect(load).toHaveBeenCalledOnce();
});

it('asks once for those who waited together', async () => {
  const { cache, load } = cacheOf();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: Admit = (ask) => {
    const mine = last.then(ask);
    last = mine;
    return mine;
  };
  const both = () => Promise.all([cache.get(1, inTurn), cache.get(2, inTurn)]);
  expect(await Promise.all([both(), both()])).toEqual([
    ['one', undefined],
    ['one', undefined],
  ]);
  expect(load).toHaveBeenCalledTimes(2);
});

it('asks nothing when it is not admitted', async () => {
  const { cache, load } = cacheOf();
  const forbid: Admit = () => Promise.reject(new Error('too many'));
  await expect(cache.get(2, forbid)).rejects.toThrow('too many');
  expect(load).not.toHaveBeenCalled();
  await cache.get(1);
  expect(await cache.get(1, forbid)).toBe('one');
});

it('keeps as many large rows as small ones would take, the youngest', async () => {
  const load = vi.fn<(key: number) => Promise<{ size: number }>>(async (key) => ({
    size: key === 7 ? 10_001 : 4_000,
  }));
  const cache = createRowCache(feedOf().feed, 'topic', load, { weigh: ({ size }) => size });
  for (const key of [1, 2, 3, 2, 3]) await cache.get(key);
  expect(load).toHaveBeenCalledTimes(3);
  // The oldest made room; when it comes again, the then oldest does.
  await cache.get(1);
  await cache.get(3);
  expect(load).toHaveBeenCalledTimes(4);
  // What is forgotten weighs nothing any more.
  cache.forget(1);
  for (const key of [2, 3, 2]) await cache.get(key);
  expect(load).toHaveBeenCalledTimes(5);
  for (let n = 0; n < 2; n++) expect((await cache.get(7))?.size).toBe(10_001);
  expect(load).toHaveBeenCalledTimes(7);
});
