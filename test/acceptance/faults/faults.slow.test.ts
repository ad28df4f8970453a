import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../simulation/faults.ts';
import { AT_EACH_CALL, names, type Often, openTrial, type Trial } from './trial.ts';

/** No operation makes more calls about one thing. */
const MOST_CALLS = 8;

let trial: Trial;
beforeAll(async () => {
  trial = await openTrial();
});
afterAll(() => trial?.stop());

/** What a fault at a later call could meet: the calls before it go well, so that they are the same. */
let mostCalls = 0;

it('every operation goes well where nothing goes wrong', async () => {
  const counted = new Map<string, number>();
  await trial.run([], 'finished', { counted });
  mostCalls = Math.max(...counted.values());
  expect(mostCalls).toBeGreaterThanOrEqual(2);
  expect(mostCalls).toBeLessThan(MOST_CALLS);
}, 120_000);

// They wait more than they compute.
describe.concurrent.each(Object.entries(AT_EACH_CALL))('what %s', (_, { rule, end }) => {
  it('leaves everything in order, at whichever call', async ({ onTestFinished }) => {
    const own = await openTrial();
    onTestFinished(() => own.stop());
    let call = 1;
    // How many calls it takes depends on the time as well.
    for (; call <= mostCalls + 2; call++) {
      if ((await own.run([rule(call)], end)) === 0) break;
    }
    expect(call).toBeGreaterThan(2);
  }, 600_000);
});

it.each<[string, FaultRule[], Often]>([
  ['takes long, and answers late', [{ do: 'slow', factor: 20, ms: 50 }], 'once'],
  ['is told twice', [], 'twice'],
  ['is told twice at once', [], 'twice at once'],
])(
  'what %s leaves everything in order',
  async (_, rules, often) => {
    expect(await trial.run(rules, 'finished', { often })).toBeGreaterThan(names.length / 2);
  },
  120_000,
);
