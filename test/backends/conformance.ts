import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Backend,
  type Call,
  type Convergence,
  type Json,
  type Kind,
  type Load,
  type Ref,
  Refused,
  type Times,
  Unavailable,
} from '../../src/backends/contract/backend.ts';
import { holdsData, needsOf } from '../../src/backends/contract/needs.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import { newSamples, type Sample, type Samples, type Versions } from './samples.ts';

/** Workers try again, too. */
function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}

/** The infrastructure of a backend under test. */
export interface Stand {
  /** The kinds that the backend has. Things of other kinds that it needs don't exist. */
  kinds: readonly Kind[];
  /** The network outside that its routers and floating addresses use. */
  externalNetworkId?: string;
  /** Opens the backend as another process would: on the same infrastructure, and without any memory of it. They may share a login. */
  open(): Backend;
  close(): Promise<void>;
}

type Listed = Pick<Ref, 'handle' | 'id' | 'kind'>;

/** What a test begins with: a thing that never was, that was removed or never was, or that is there. */
type Beginning = 'never' | 'gone' | 'there';
const LIVES = ['quiet', 'restless', 'short'] as const;
type Life = (typeof LIVES)[number];

const log = pino({ level: 'silent' });
const SECRETS: Record<string, string> = { password: 'pa55word', user_data: 'IyEvYmluL3No', payload: 'c2VjcmV0' };
const LONGEST_PAUSE_MS = 500;

/**
 * Tests what every backend must do. `mostCalls` limits the calls until a thing is as wanted; between calls
 * the test waits as long as the backend says, but at most half a second. `versions` are those of Kubernetes that the
 * backend has. Each test has a thing of its own, unless `sharing` is set, for backends that take long to make one: then
 * there are three things, beside each other, and a test goes on with what the one before has left. The function that is
 * returned begins with these at once, `kindsAtOnce` at a time, so that they go on while other tests run.
 */
export function conformance(
  name: string,
  makeStand: () => Promise<Stand>,
  {
    kinds,
    mostCalls = 100,
    versions,
    sharing = false,
    kindsAtOnce = kinds.length,
  }: { kinds: readonly Kind[]; mostCalls?: number; versions?: Versions; sharing?: boolean; kindsAtOnce?: number },
): () => Promise<void> {
  let begun: Promise<void> | undefined;
  const lives: (() => Promise<unknown>)[] = [];
  const begin = () => {
    begun ??= makeStand().then((made) => {
      stand = made;
      const limit = pLimit(kindsAtOnce);
      for (const live of lives) void limit(live);
    });
    return begun;
  };
  let stand: Stand;
  let lastList: Promise<unknown> = Promise.resolve();
  let nextList: Promise<Listed[]> | undefined;
  /** Lists all that is there. Tests that ask while a list is being made share the next one, or its error. */
  function list(): Promise<Listed[]> {
    nextList ??= lastList.then(() => {
      nextList = undefined;
      const listed = listNow();
      lastList = listed.catch(() => {});
      return listed;
    });
    return nextList;
  }
  async function listNow(): Promise<Listed[]> {
    const listed: Listed[] = [];
    for await (const one of stand.open().list({ log, signal: new AbortController().signal })) listed.push(one);
    return listed;
  }
  describe(`${name}`, () => {
    beforeAll(begin);
    afterAll(() => stand?.close());

    it('has the kinds that it is tried with', () => {
      expect([...stand.kinds].sort()).toEqual([...kinds].sort());
    });

    describe.each(kinds)('%s', (kind) => {
      const checks: Check[] = [];
      const results = new Map<Check, Promise<void>>();
      /** `life` names the thing that the test shares with others. */
      const check = (title: string, life: Life, from: Beginning, test: Check['test']): void => {
        const one = { life, from, test };
        checks.push(one);
        it(`${title}`, async () => (sharing ? started.then(() => results.get(one)) : liveThrough([one])[0]));
      };
      let start = () => {};
      const started = new Promise<void>((resolve) => {
        start = resolve;
      });
      if (sharing)
        lives.push(() => {
          for (const life of LIVES) {
            const own = checks.filter((one) => one.life === life);
            for (const [index, result] of liveThrough(own).entries()) results.set(own[index] as Check, result);
          }
          start();
          return Promise.allSettled(results.values());
        });
      afterAll(() => Promise.allSettled(results.values()));

      /** Runs checks with one thing, one after another. Returns what becomes of each. */
      function liveThrough(those: readonly Check[]): Promise<void>[] {
        const made = newGiven();
        let former: Promise<unknown> = made;
        const all = those.map(({ from, test }) => {
          const result = former.then(async () => {
            const given = await made;
            if (from === 'there') await given.thing.bring(given.first);
            if (from === 'gone' && given.thing.tried) await given.thing.bring(null);
            await test(given);
          });
          // Who waits for it hears of its failure; the next check begins anew.
          former = result.catch(() => {});
          return result;
        });
        // Nobody waits for it, but what is left would run beside the next tests.
        void former.then(async () => (await made).thing.told(null)).catch(() => {});
        return all;
      }

      async function newGiven() {
        const samples = newSamples(versions, stand.externalNetworkId);
        const { id, spec, changed }: Sample = samples[kind];
        await prepare(samples, kind, spec);
        const thing = newThing(kind, id);
        const expectThere = async () => {
          expect(await thing.observe()).not.toBeNull();
          expect(await thing.listed()).toBe(1);
        };
        const expectGone = async () => {
          expect(await thing.observe()).toBeNull();
          expect(await thing.listed()).toBe(0);
        };
        return { thing, first: spec, changed, expectThere, expectGone };
      }
      type Given = Awaited<ReturnType<typeof newGiven>>;
      interface Check {
        life: Life;
        from: Beginning;
        test(given: Given): Promise<unknown>;
      }

      /** Makes what the thing needs, in order. */
      async function prepare(samples: Samples, of: Kind, spec: Specs[Kind]): Promise<void> {
        for (const need of needsOf(of, spec as never)) {
          const sample: Sample = samples[need.kind];
          if (sample.id !== need.id || !stand.kinds.includes(need.kind)) continue;
          await prepare(samples, need.kind, sample.spec);
          await newThing(need.kind, sample.id).bring(sample.spec);
        }
      }

      function newThing(of: Kind, id: string) {
        const ref: Ref = { kind: of, id, regionId: 1, projectId: 1, handle: null };
        let generation = 0;
        const gone = new AbortController();
        // As handles are stored between processes.
        const remember = async (handle: Json) => {
          ref.handle = JSON.parse(JSON.stringify(handle));
        };
        const newCall = (signal = gone.signal, wasThere = false): Call => ({
          signal,
          generation: ++generation,
          wasThere,
          remember,
          secret: async (secret) => SECRETS[secret],
          log,
        });
        const state = { tried: false };
        function told(spec: Specs[Kind] | null, backend = stand.open(), signal?: AbortSignal, wasThere?: boolean) {
          state.tried = true;
          return backend.converge({ ...ref }, spec, newCall(signal, wasThere)) as Promise<Convergence<object | null>>;
        }
        /** Calls `once` until the thing is as wanted. */
        async function bring(spec: Specs[Kind] | null, once: () => ReturnType<typeof told> = () => told(spec)) {
          let doing = '';
          for (let count = 1; count <= mostCalls; count++) {
            const answer = await once();
            if (answer.handle !== undefined) await remember(answer.handle);
            if (answer.state === 'settled') return answer;
            doing = answer.doing;
            expect(doing).not.toBe('');
            expect(answer.askAgainMs).toBeGreaterThan(0);
            await delay(Math.min(answer.askAgainMs, LONGEST_PAUSE_MS));
          }
          throw new Error(`${of} was not as wanted after ${mostCalls} calls: ${doing}`);
        }
        const observe = () => stand.open().observe(ref, newCall());
        const listed = async () => (await list()).filter((one) => one.kind === of && one.id === id).length;
        return {
          ref,
          told,
          bring,
          observe,
          listed,
          get tried() {
            return state.tried;
          },
        };
      }
      check('has nothing against its samples, or says against what', 'quiet', 'never', async (given) => {
        for (const spec of [given.first, given.changed]) {
          for (const { field, message } of stand.open().problems(kind, spec)) {
            expect(field).toMatch(/^\w/);
            expect(message).toMatch(/\w/);
          }
          expect(stand.open().problems(kind, spec)).toEqual([]);
        }
      });

      check('is not there before it is wanted', 'quiet', 'never', ({ expectGone }) => expectGone());

      check(
        'may be removed though it never was there, also by calls at the same time',
        'quiet',
        'never',
        async ({ thing, expectGone }) => {
          const answers = await Promise.all([1, 2, 3].map(() => thing.told(null)));
          for (const answer of answers) expect(answer).toMatchObject({ state: 'settled', observed: null });
          await expectGone();
        },
      );

      check('is made once by calls at the same time', 'quiet', 'gone', async ({ thing, first, expectThere }) => {
        const backends = Array.from({ length: 4 }, () => stand.open());
        await Promise.all(backends.map((backend) => thing.told(first, backend).catch(unlessUnavailable)));
        await thing.bring(first);
        await expectThere();
      });

      check(
        'is seen and listed, and stays as it is however often it is told',
        'quiet',
        'there',
        async ({ thing, first, expectThere }) => {
          const { observed } = await thing.bring(first);
          await expectThere();
          expect(await thing.observe()).toEqual(observed);
          for (let count = 0; count < 3; count++) {
            expect(await thing.told(first)).toMatchObject({ state: 'settled', observed });
          }
          await expectThere();
          expect(await thing.observe()).toEqual(observed);
        },
      );

      check('is changed, and put back', 'quiet', 'there', async ({ thing, first, changed, expectThere }) => {
        const before = await thing.bring(first);
        await thing.bring(changed);
        expect(await thing.told(changed)).toMatchObject({ state: 'settled' });
        await expectThere();
        const after = await thing.bring(first);
        expect(after.observed).toEqual(before.observed);
      });

      check(
        'is found again where its handle was lost',
        'quiet',
        'there',
        async ({ thing, first, expectThere, expectGone }) => {
          thing.ref.handle = null;
          await thing.bring(first);
          await expectThere();
          thing.ref.handle = null;
          await thing.bring(null);
          await expectGone();
        },
      );

      check(
        'becomes what is wanted last, in whatever it is interrupted',
        'restless',
        'gone',
        async ({ thing, first, changed, expectThere, expectGone }) => {
          await thing.told(first);
          await thing.told(changed);
          await thing.bring(changed);
          await expectThere();
          await thing.told(first);
          await thing.told(null);
          await thing.bring(first);
          await expectThere();
          await thing.told(changed);
          await thing.bring(null);
          await expectGone();
        },
      );

      check(
        'does nothing for who has gone, and goes on for who comes next',
        'short',
        'gone',
        async ({ thing, first, expectThere, expectGone }) => {
          const reason = new Error('nobody waits for it');
          await expect(thing.told(first, stand.open(), AbortSignal.abort(reason))).rejects.toBe(reason);
          await expectGone();
          const gone = new AbortController();
          const call = thing.told(first, stand.open(), gone.signal);
          gone.abort(reason);
          await call.catch((error: unknown) => expect(error).toBe(reason));
          await thing.bring(first);
          await expectThere();
        },
      );

      check(
        'is removed, is gone, and can be made again, unless that would lose what it held',
        'short',
        'there',
        async ({ thing, first, expectThere, expectGone }) => {
          expect((await thing.bring(null)).observed).toBeNull();
          await expectGone();
          for (let count = 0; count < 2; count++) {
            expect(await thing.told(null)).toMatchObject({ state: 'settled', observed: null });
          }
          if (holdsData(kind)) {
            const lost = thing.told(first, stand.open(), undefined, true);
            await expect(lost).rejects.toBeInstanceOf(Refused);
            await expectGone();
          }
          thing.ref.handle = null;
          await thing.bring(first, () => thing.told(first, stand.open(), undefined, !holdsData(kind)));
          await expectThere();
        },
      );

      check(
        'lists what it sees, and sees what it lists',
        'short',
        'there',
        async ({ thing, expectThere, expectGone }) => {
          const own = (await list()).find((one) => one.kind === kind && one.id === thing.ref.id);
          // The thing can be observed and removed with what the list says.
          expect(own, 'it is not in the list').toBeDefined();
          Object.assign(thing.ref, { handle: own?.handle });
          await expectThere();
          await thing.bring(null);
          await expectGone();
        },
      );

      check(
        'is made, changed and removed once when each call comes twice, and the first answer is lost',
        'short',
        'gone',
        async ({ thing, first, changed, expectThere, expectGone }) => {
          for (const spec of [first, changed]) {
            await thing.bring(spec, () => twice(spec));
            await expectThere();
          }
          await thing.bring(null, () => twice(null));
          await expectGone();

          async function twice(spec: Specs[Kind] | null) {
            await thing.told(spec);
            return thing.told(spec);
          }
        },
      );

      if (kind === 'machine')
        check('tells the load at the times of the question, or has no way to', 'short', 'there', async ({ thing }) => {
          const { loadOf } = stand.open();
          if (!loadOf) return;
          const times = lastMinute();
          const question = { machineId: thing.ref.id, disks: ['vda'], ...times };
          const call = { log, signal: AbortSignal.timeout(10_000) };
          const load = await loadOf({ ...thing.ref, kind: 'machine' }, question, call);
          expectTimes(load, times);
          for (const { disks = {} } of load) expect(['vda']).toEqual(expect.arrayContaining(Object.keys(disks)));
        });
      if (kind === 'machine')
        check('counts whole bytes of known ports, or nothing at all', 'short', 'there', async ({ thing }) => {
          const { sentBy } = stand.open();
          if (!sentBy) return;
          const to = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
          const from = new Date(to.getTime() - 24 * 3_600_000);
          const ref = { ...thing.ref, kind: 'machine' } as const;
          const unknown = { ...ref, id: randomUUID(), handle: null };
          const machines = [ref, unknown].map((one) => ({
            ref: one,
            machineId: one.id,
            createdAt: from,
            ports: [{ id: randomUUID(), macAddress: 'fa:16:3e:00:00:01' }],
          }));
          const sent = await sentBy(machines, { from, to }, { log, signal: AbortSignal.timeout(10_000) });
          const ports = machines.flatMap((machine) => machine.ports.map(({ id }) => id));
          expect(ports).toEqual(expect.arrayContaining([...sent.keys()]));
          for (const bytes of sent.values())
            expect([Number.isSafeInteger(bytes), bytes >= 0], String(bytes)).toEqual([true, true]);
        });
      if (kind === 'load_balancer')
        check(
          'tells the traffic at the times of the question, or has no way to',
          'short',
          'there',
          async ({ thing }) => {
            const times = lastMinute();
            const call = { log, signal: AbortSignal.timeout(10_000) };
            const load = await stand.open().trafficOf?.({ ...thing.ref, kind: 'load_balancer' }, times, call);
            expectTimes(load ?? [], times);
          },
        );

      if (kind === 'machine')
        check('has a console while it runs, or none', 'short', 'there', async ({ thing }) => {
          const call = { log, signal: AbortSignal.timeout(10_000) };
          const ref = { ...thing.ref, kind: 'machine' } as const;
          const found = await stand.open().consoleOf?.(ref, { machineId: thing.ref.id }, call);
          expect(
            await stand.open().consoleOf?.(ref, { machineId: thing.ref.id, type: 'nothing' }, call),
          ).toBeUndefined();
          if (!found) return;
          expect([found.protocol, found.type]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
          if ('url' in found) return void new URL(found.url);
          const viewers = await Promise.all([found.open(call), found.open(call)]);
          for (const viewer of viewers) viewer.destroy();
          expect(viewers.every(({ destroyed }) => destroyed)).toBe(true);
        });
    });
  });
  return begin;
}

const lastMinute = (): Times => ({ from: new Date(Date.now() - 60_000), to: new Date(), stepMs: 15_000 });

function expectTimes(load: readonly Load[], { from, to, stepMs }: Times): void {
  const times = load.map(({ time }) => time.getTime());
  expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
  for (const time of times) {
    expect((time - from.getTime()) % stepMs).toBe(0);
    expect(time).toBeLessThanOrEqual(to.getTime());
  }
}
