import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { SOON } from '../../../../test/support/http-client.ts';
import { createSlots } from './slots.ts';

const never = new AbortController().signal;

/** Slots whose files are slow at once. */
const slowly = (count: number, maxSlow = 16) => createSlots(count, { quickMs: 0, maxSlow });

test('quick files have a slot from the start', async () => {
  const slots = createSlots(2);
  const [first, second] = [slots.enter(1), slots.enter(2)];
  expect(slots.hasRoom()).toBe(false);
  await first.turn(never);
  expect(slots.hasRoom()).toBe(false);
  first.leave();
  expect([slots.hasRoom(), slots.slowClients()]).toEqual([true, []]);
  second.leave();
});

test('slow files have none, up to a number of them', async () => {
  const slots = slowly(1, 2);
  const all = [slots.enter(1)];
  await vi.waitFor(() => expect(slots.slowClients()).toEqual([1]), SOON);
  expect(slots.hasRoom()).toBe(true);
  all.push(slots.enter(2));
  await vi.waitFor(() => expect(slots.slowClients()).toEqual([1, 2]), SOON);
  expect(slots.hasRoom()).toBe(false);
  for (const slot of all) slot.leave();
  expect(slots.hasRoom()).toBe(true);
});

test('accounts take turns with what is there, whoever came first', async () => {
  const slots = slowly(1);
  const tasks = new Map(['a1', 'a2', 'a3', 'b1'].map((name) => [name, slots.enter(name.startsWith('a') ? 1 : 2)]));
  await vi.waitFor(() => expect(slots.slowClients()).toHaveLength(4), SOON);
  const order: string[] = [];
  const turns = [...tasks].map(([name, slot]) => slot.turn(never).then(() => order.push(name)));
  for (let done = 1; done <= 4; done++) {
    await vi.waitFor(() => expect(order).toHaveLength(done), SOON);
    // Nobody else begins before this one leaves.
    await delay(5);
    expect(order).toHaveLength(done);
    tasks.get(order.at(-1) ?? '')?.leave();
  }
  await Promise.all(turns);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
});

test('free slots are for all whose files are there, also of one account', async () => {
  const slots = slowly(3);
  const busy = slots.enter(2);
  const others = [slots.enter(1), slots.enter(1)];
  await vi.waitFor(() => expect(slots.slowClients()).toHaveLength(3), SOON);
  await Promise.all([busy, ...others].map((slot) => slot.turn(never)));
  expect(slots.hasRoom()).toBe(false);
  for (const slot of [busy, ...others]) slot.leave();
});

test('what waits and what is quick is not more than there are slots', async () => {
  const slots = slowly(1);
  const slow = slots.enter(1);
  await vi.waitFor(() => expect(slots.slowClients()).toEqual([1]), SOON);
  const busy = slots.enter(2);
  await busy.turn(never);
  const waiting = slow.turn(never);
  busy.leave();
  await waiting;
  expect(slots.hasRoom()).toBe(false);
  slow.leave();
});

test('a task that is ended while it waits gives way', async () => {
  const slots = slowly(1);
  const [first, second, third] = [slots.enter(1), slots.enter(2), slots.enter(3)];
  await vi.waitFor(() => expect(slots.slowClients()).toHaveLength(3), SOON);
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
