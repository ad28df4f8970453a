import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AT_EACH_CALL, names, openTrial, type Trial } from './trial.ts';

/**
 * Every operation that wants something of infrastructure, with a fault at its first call; faults.slow.test.ts
 * has each fault at each call. Whatever happens, rows, wants and infrastructure agree in the end, quotas add up, and every task has ended. The faults are
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

const WITNESSES = ['is refused', 'gets no answer though the work was done', 'stays as it is for a while'] as const;

describe.each(WITNESSES.map((name) => [name, AT_EACH_CALL[name]] as const))('what %s', (_, { rule, end }) => {
  it('leaves everything in order, at the first call', async () => {
    expect(await trial.run([rule(1)], end)).toBeGreaterThan(names.length / 2);
  }, 300_000);
});
