import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Refused, Unavailable } from '../src/backends/contract/backend.ts';
import { findShapeFaults } from '../src/cloud/ground/catalog/faults.ts';
import { volume } from '../src/convergence/fixtures/specs.ts';
import { type Database, openDatabase } from '../src/db/database.ts';
import type { Secrets } from '../src/secrets/secrets.ts';
import { createDatabase, type TestDatabase } from '../test/support/databases.ts';
import { secretsOf } from '../test/support/secrets.ts';
import { createFaults, type FaultRule, FaultRules, type FaultyCall } from './faults.ts';
import { createFaultyBackend } from './maker.ts';

const call = (about: Partial<FaultyCall> = {}): FaultyCall => ({
  kind: 'volume',
  id: '8a5b1d2c-0000-4000-8000-000000000000',
  name: 'data-1',
  phase: 'making',
  ...about,
});

/** Returns which of the first `count` calls about one thing meet the fault. */
const met = (rule: Partial<FaultRule>, count = 6): number[] => {
  const faults = createFaults([{ do: 'stay', ...rule }]);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return numbers.filter(() => faults.next(call()) !== undefined);
};

describe('what a rule applies to', () => {
  it.each([
    [{}, true],
    [{ kind: 'volume' }, true],
    [{ kind: 'port' }, false],
    [{ phase: 'making' }, true],
    [{ phase: 'removing' }, false],
    [{ name: 'data-1' }, true],
    [{ name: 'data' }, false],
    [{ name: 'data-?' }, true],
    [{ name: '*' }, true],
    [{ name: 'd*1' }, true],
    [{ name: '*ata*' }, true],
    [{ name: 'd*2' }, false],
    [{ name: 'data.1' }, false],
    [{ name: '8a5b1d2c-*' }, true],
  ] as [Partial<FaultRule>, boolean][])('%j: %s', (rule, applies) => {
    expect(met(rule, 1)).toHaveLength(applies ? 1 : 0);
  });

  it.each([
    [{}, [1, 2, 3, 4, 5, 6]],
    [{ call: 3 }, [3]],
    [{ times: 2 }, [1, 2]],
    [{ call: 2, times: 3 }, [2, 3, 4]],
    [{ probability: 0 }, []],
    [{ probability: 1, call: 2 }, [2]],
  ])('%j: of six calls %j', (rule, numbers) => {
    expect(met(rule)).toEqual(numbers);
  });

  it('draws the same for the same seed, and about as often as it says', () => {
    const draws = (seed: number) => met({ probability: 0.3, seed }, 1_000);
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
    expect(draws(7).length).toBeGreaterThan(250);
    expect(draws(7).length).toBeLessThan(350);
  });

  it('counts the calls about each thing, and those that match alone', () => {
    const faults = createFaults([{ do: 'stay', phase: 'removing', call: 2 }]);
    const [one, other] = [randomUUID(), randomUUID()];
    const next = (id: string, phase: FaultyCall['phase']) => faults.next(call({ id, phase })) !== undefined;
    expect([next(one, 'making'), next(one, 'removing'), next(other, 'removing'), next(one, 'removing')]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('takes the first rule that applies', () => {
    const faults = createFaults([{ do: 'refuse', call: 2 }, { do: 'stay', kind: 'port' }, { do: 'lose-answer' }]);
    expect([1, 2, 3].map(() => faults.next(call())?.do)).toEqual(['lose-answer', 'refuse', 'lose-answer']);
  });
});

describe('the shape of rules', () => {
  const [, example = ''] = /```yaml\n(backends:[^`]*)```/.exec(fs.readFileSync('docs/testers.md', 'utf8')) ?? [];

  it('takes each of those in the document', () => {
    const { faults } = parse(example).backends[0].settings;
    expect(faults).toHaveLength(6);
    expect(findShapeFaults(FaultRules, faults)).toEqual([]);
  });

  it.each([
    [{ do: 'explode' }, 'do', 'is "explode". Use one of: refuse, unavailable, stay, slow, lose-answer.'],
    [{ kind: 'disk', do: 'stay' }, 'kind', 'is "disk". Use one of: '],
    [{ do: 'stay', call: 0 }, 'call', 'must be at least 1, not 0.'],
    [{ do: 'stay', probability: 2 }, 'probability', 'must be at most 1, not 2.'],
    [{ do: 'stay', reason: 'has none' }, 'reason', 'is unknown. Remove it or correct its name; '],
    [{ do: 'stay', name: '*a*b*' }, 'name', 'is "*a*b*". '],
    [{ do: 'slow', factor: 0 }, 'factor', 'must be at least 1, not 0.'],
    [{ kind: 'volume' }, 'do', 'is missing. Use one of: refuse, '],
  ])('refuses %j, with one fault', (rule, field, message) => {
    expect(findShapeFaults(FaultRules, [{ do: 'stay' }, rule])).toEqual([
      { path: [1, field], message: expect.stringContaining(message) },
    ]);
    expect(Value.Check(FaultRules, [rule])).toBe(false);
  });
});

describe('what a fault does', () => {
  let kept: TestDatabase;
  let database: Database;
  let secrets: Secrets;
  beforeAll(async () => {
    kept = await createDatabase();
    database = openDatabase({ connectionString: kept.url });
    secrets = await secretsOf(database);
  });
  afterAll(async () => {
    await database?.close();
    await kept?.drop();
  });

  function thing(rules: FaultRule[], speed = 1_000) {
    const backend = createFaultyBackend({ sql: database.sql, secrets, speed, faults: createFaults(rules) });
    const ref = { kind: 'volume', id: randomUUID(), regionId: 1, projectId: 1, handle: null } as const;
    const gone = new AbortController();
    const { signal } = gone;
    const about = { signal, generation: 1, wasThere: false, log: {} as never, secret: async () => undefined };
    return {
      gone,
      atOnce: backend.atOnce,
      make: (sizeGib = 1) => backend.converge(ref, volume(sizeGib), about),
      remove: () => backend.converge(ref, null, about),
      isThere: async () => (await backend.observe(ref, about)) !== null,
    };
  }

  it('makes nothing at once, since rules are about calls', async () => {
    const id = randomUUID();
    const spec = { name: 'group', description: '', rules: {} };
    const asked = [{ kind: 'security_group', id, former: null, spec }] as const;
    await database.transaction(async (tx) => {
      expect([...(thing([{ do: 'refuse' }]).atOnce?.(tx, asked) ?? [])]).toEqual([]);
      expect([...(thing([]).atOnce?.(tx, asked) ?? [])]).toEqual([[id, {}]]);
    });
  });

  it('refuses with the reason that the rule has', async () => {
    const { make, isThere } = thing([{ do: 'refuse', reason: 'The pool is full' }]);
    await expect(make()).rejects.toThrow(new Refused('The pool is full'));
    expect(await isThere()).toBe(false);
  });

  it('is away for one call', async () => {
    const { make, isThere } = thing([{ do: 'unavailable', call: 1 }]);
    await expect(make()).rejects.toBeInstanceOf(Unavailable);
    expect(await isThere()).toBe(false);
    await expect(make()).resolves.toBeDefined();
    expect(await isThere()).toBe(true);
  });

  it('stays as it is', async () => {
    const { make, isThere } = thing([{ do: 'stay', times: 2 }]);
    for (const _ of [1, 2]) expect(await make()).toMatchObject({ state: 'progressing' });
    expect(await isThere()).toBe(false);
  });

  it('does the work, and loses the answer', async () => {
    const { make, remove, isThere } = thing([{ do: 'lose-answer', call: 1, phase: 'making' }], 1e9);
    await expect(make()).rejects.toBeInstanceOf(Unavailable);
    expect(await isThere()).toBe(true);
    expect(await make()).toMatchObject({ state: 'settled' });
    expect(await remove()).toMatchObject({ state: 'settled' });
  });

  it('takes longer by a factor', async () => {
    const { make } = thing([{ do: 'slow', factor: 1_000 }], 1);
    expect(await make()).toMatchObject({ state: 'progressing', askAgainMs: 200_000 });
  });

  it('answers late, and not to who has gone', async () => {
    const late = thing([{ do: 'slow', ms: 30 }], 1e9);
    expect(await late.make()).toMatchObject({ state: 'settled' });
    const { make, gone, isThere } = thing([{ do: 'slow', ms: 600_000 }], 1e9);
    const making = make();
    gone.abort(new Error('gone'));
    await expect(making).rejects.toThrow(/aborted|gone/);
    expect(await isThere()).toBe(false);
  });

  it('tells making, changing and removing apart', async () => {
    const { make, remove } = thing([{ do: 'refuse', phase: 'changing' }], 1e9);
    for (const _ of [1, 2]) expect(await make()).toMatchObject({ state: 'settled' });
    await expect(make(2)).rejects.toBeInstanceOf(Refused);
    expect(await make()).toMatchObject({ state: 'settled' });
    expect(await remove()).toMatchObject({ state: 'settled' });
    expect(await make(2)).toMatchObject({ state: 'settled' });
  });
});
