import { type Kysely, sql } from 'kysely';
import { type Backend, Refused } from '../../backends/contract/backend.ts';
import type { BackendMaker, Makers } from '../../backends/maker.ts';
import { keyOf } from '../../convergence/wants.ts';
import type { Tables } from '../../db/tables.ts';
import type { Calls } from './calls.ts';
import type { Rules } from './rules.ts';

/** How soon a task that is held looks whether it still is. */
const HOLD_MS = 50;

/** Makes backends that follow the rules for tasks. `speed` goes before the setting, and may change. */
export function faultyMakers(
  makers: Makers,
  { rules, calls, speed }: { rules: Rules; calls: Calls; speed: () => number | undefined },
): Makers {
  const faulty = (maker: BackendMaker): BackendMaker => ({
    ...maker,
    make(given, host) {
      const paced = {
        ...host,
        get simulationSpeed() {
          return speed() ?? host.simulationSpeed;
        },
      };
      return withRules(maker.make(given, paced), { rules, calls, db: host.sql });
    },
  });
  return Object.fromEntries(Object.entries(makers).map(([kind, maker]) => [kind, faulty(maker)]));
}

function withRules(
  backend: Backend,
  { rules, calls, db }: { rules: Rules; calls: Calls; db: Kysely<Tables> },
): Backend {
  const converge: Backend['converge'] = async (ref, spec, call) => {
    const applied = rules.aboutTasks ? await appliedTo(ref, spec) : undefined;
    if (!applied) return backend.converge(ref, spec, call);
    const { effect, since } = applied;
    if ('fail' in effect) throw new Refused(effect.fail);
    if ('hold' in effect) return waits('held by a rule of the test kit', HOLD_MS);
    if ('delay_ms' in effect) {
      const left = since + effect.delay_ms - performance.now();
      if (left > 0) return waits('delayed by a rule of the test kit', left);
    }
    return backend.converge(ref, spec, call);
  };

  return {
    ...backend,
    async converge(ref, spec, call) {
      const result = await calls.during(keyOf(ref), () => converge(ref, spec, call));
      return result ?? waits('taken away by a reset', HOLD_MS);
    },
  };

  async function appliedTo({ kind, id }: { kind: string; id: string }, spec: object | null) {
    const tasks = await waitingFor(db, kind, id);
    const [first] = tasks;
    // Nobody waits for what puts itself right.
    if (!first) return undefined;
    return rules.forTask({
      key: `${first.id} ${kind}:${id}`,
      tasks: tasks.map(({ task_type }) => task_type),
      clientIds: tasks.map(({ client_id }) => client_id),
      kind,
      names: [nameIn(spec), id],
    });
  }
}

function nameIn(spec: object | null): string | undefined {
  return spec && 'name' in spec && typeof spec.name === 'string' ? spec.name : undefined;
}

function waits(doing: string, ms: number) {
  return { state: 'progressing', doing, askAgainMs: Math.ceil(ms) } as const;
}

async function waitingFor(db: Kysely<Tables>, kind: string, id: string) {
  const { rows } = await sql<{ id: string; task_type: string; client_id: number }>`
    select tasks.id, task_type, tasks.client_id from task_wants join tasks on tasks.id = task_id
    where kind = ${kind} and want_id = ${id} and state in ('NEW', 'RUNNING') order by tasks.created_on`.execute(
    db,
  );
  return rows;
}
