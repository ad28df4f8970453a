import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../simulation/faults.ts';
import { AT_EACH_CALL, names, type Often, openTrial, type Trial } from './trial.ts';

/**
 * Every operation that wants something of infrastructure, with each fault at each call. Whatever happens, rows, wants and
 * infrastructure agree in the end, quotas add up, and every task has ended. The faults are those of the simulated backend in the
 * running service.
 */

/** No operation makes more calls about one thing. */
const MOST_CALLS = 8;

let trial: Trial;
/** The most calls that each operation makes about one thing. */
let calls: Map<string, number>;
beforeAll(async () => {
  trial = await openTrial();
  // Every operation goes well where nothing goes wrong.
  calls = await trial.countCalls();
});
afterAll(() => trial?.stop());

/** Operations that a fault at that call could meet. Timing matters too, so there may be two more calls. */
const reaching = (call: number) => names.filter((name) => (calls.get(name) ?? 0) + 2 >= call);

it('the infrastructure is told of nothing that is not on disk yet', async () => {
  // Else a crash of the database takes back what was settled by it, and nobody looks again.
  const { rows } = await sql<object>`show synchronous_commit`.execute(trial.sql());
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
});

it('operations make more calls than one, and not too many', () => {
  const most = Math.max(...calls.values());
  expect(most).toBeGreaterThanOrEqual(2);
  expect(most).toBeLessThan(MOST_CALLS);
});

// They wait more than they compute.
describe.concurrent.each(Object.entries(AT_EACH_CALL))('what %s', (_, { rule, end }) => {
  it('leaves everything in order, at whichever call', async ({ onTestFinished }) => {
    const own = await openTrial();
    onTestFinished(() => own.stop());
    let call = 1;
    for (; reaching(call).length > 0; call++) {
      if ((await own.run([rule(call)], end, { some: reaching(call) })) === 0) break;
    }
    expect(call).toBeGreaterThan(2);
  }, 1_200_000);
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
