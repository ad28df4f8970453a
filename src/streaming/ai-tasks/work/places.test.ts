import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createPlaces } from './places.ts';

const never = new AbortController().signal;

/** Creates places in which all files count as slow immediately. */
const slowly = (count: number, maxSlow = 16) => createPlaces(count, { quickMs: 0, maxSlow });

test('quick files have a place from the start', async () => {
  const places = createPlaces(2);
  const [first, second] = [places.enter(1), places.enter(2)];
  expect(places.hasRoom()).toBe(false);
  await first.turn(never);
  expect(places.hasRoom()).toBe(false);
  first.leave();
  expect([places.hasRoom(), places.slowClients()]).toEqual([true, []]);
  second.leave();
});

test('slow files have none, up to a number of them', async () => {
  const places = slowly(1, 2);
  const all = [places.enter(1)];
  await vi.waitFor(() => expect(places.slowClients()).toEqual([1]));
  expect(places.hasRoom()).toBe(true);
  all.push(places.enter(2));
  await vi.waitFor(() => expect(places.slowClients()).toEqual([1, 2]));
  expect(places.hasRoom()).toBe(false);
  for (const place of all) place.leave();
  expect(places.hasRoom()).toBe(true);
});

test('accounts take turns with what is there, whoever came first', async () => {
  const places = slowly(1);
  const tasks = new Map(
    ['a1', 'a2', 'a3', 'b1'].map((name) => [name, places.enter(name.startsWith('a') ? 1 : 2)]),
  );
  await vi.waitFor(() => expect(places.slowClients()).toHaveLength(4));
  const order: string[] = [];
  const turns = [...tasks].map(([name, place]) => place.turn(never).then(() => order.push(name)));
  for (let done = 1; done <= 4; done++) {
    await vi.waitFor(() => expect(order).toHaveLength(done));
    // No other task begins before this one leaves.
    await delay(5);
    expect(order).toHaveLength(done);
    tasks.get(order.at(-1) ?? '')?.leave();
  }
  await Promise.all(turns);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('free places are for all whose files are there, also of one account', async () => {
  const places = slowly(3);
  const busy = places.enter(2);
  const others = [places.enter(1), places.enter(1)];
  await vi.waitFor(() => expect(places.slowClients()).toHaveLength(3));
  await Promise.all([busy, ...others].map((place) => place.turn(never)));
  expect(places.hasRoom()).toBe(false);
  for (const place of [busy, ...others]) place.leave();
});

test('what waits and what is quick is not more than there are places', async () => {
  const places = slowly(1);
  const slow = places.enter(1);
  await vi.waitFor(() => expect(places.slowClients()).toEqual([1]));
  const busy = places.enter(2);
  await busy.turn(never);
  const waiting = slow.turn(never);
  busy.leave();
  await waiting;
  expect(places.hasRoom()).toBe(false);
  slow.leave();
});

test('a task that is ended while it waits gives way', async () => {
  const places = slowly(1);
  const [first, second, third] = [places.enter(1), places.enter(2), places.enter(3)];
  await vi.waitFor(() => expect(places.slowClients()).toHaveLength(3));
  await first.turn(never);
  const stop = new AbortController();
  const refused = second.turn(stop.signal).finally(() => second.leave());
  const next = third.turn(never);
  stop.abort(new Error('cancelled'));
  await expect(refused).rejects.toThrow('cancelled');
  first.leave();
  await next;
  third.leave();
});
