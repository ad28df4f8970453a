import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AT_EACH_CALL, names, openTrial, type Trial } from './trial.ts';

/**
 * Every operation that wants something of infrastructure, which refuses its first call; faults.slow.test.ts has each fault at
 * each call. Whatever happens, rows, wants and infrastructure agree in the end, quotas add up, and every task has ended. The faults are
 * those of the simulated backend in the running service.
 */
let trial: Trial;
beforeAll(async () => {
  trial = await openTrial();
});
afterAll(() => trial?.stop());

it('is told of nothing that is not on disk yet', async () => {
  // Else a crash of the database takes back what was settled by it, and nobody looks again.
  const { rows } = await sql<object>`show synchronous_commit`.execute(trial.sql());
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
});

// The others are alike, and come in faults.slow.test.ts.
const { rule, end } = AT_EACH_CALL['is refused'];

it('leaves everything in order when the first call is refused', async () => {
  expect(await trial.run([rule(1)], end)).toBeGreaterThan(names.length / 2);
}, 300_000);
