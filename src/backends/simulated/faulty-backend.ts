import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Backend, type Kind, Refused, Unavailable } from '../contract/backend.ts';
import { createSimulatedBackend } from './backend.ts';
import type { FaultRule, Faults } from './faults.ts';
import { findObject } from './objects.ts';

/** When to ask again about a thing that stays as it is. */
const STAY_MS = 100;

/** A simulated backend in which things go wrong by rule. */
export function createFaultyBackend(
  deps: Parameters<typeof createSimulatedBackend>[0] & { faults: Faults },
): Backend {
  const { sql: db, faults } = deps;
  const backend = createSimulatedBackend(deps);

  async function faultOf(kind: Kind, id: string, spec: object | null): Promise<FaultRule | undefined> {
    if (!faults.any) return undefined;
    const found = await findObject(db, kind, id);
    const { name } = (spec ?? found?.spec ?? {}) as { name?: string };
    return faults.next({ kind, id, name, phase: phaseOf(found, spec) });
  }

  return {
    ...backend,
    async converge(ref, spec, call) {
      const fault = await faultOf(ref.kind, ref.id, spec);
      switch (fault?.do) {
        case 'refuse':
          throw new Refused(fault.reason ?? 'The simulation refuses it because of a configured fault');
        case 'unavailable':
          throw new Unavailable(
            fault.reason ?? 'the simulation is unreachable because of a configured fault',
          );
        case 'stay':
          return { state: 'progressing', doing: 'staying as it is', askAgainMs: STAY_MS };
        case 'slow': {
          if (fault.ms !== undefined) await delay(fault.ms, undefined, { signal: call.signal });
          const slower = createSimulatedBackend({ ...deps, speed: deps.speed / (fault.factor ?? 1) });
          return slower.converge(ref, spec, call);
        }
        case 'lose-answer':
          await backend.converge(ref, spec, call);
          throw new Unavailable('the answer of the simulation was lost because of a configured fault');
        default:
          return backend.converge(ref, spec, call);
      }
    },
  };
}

function phaseOf(found: { doing: string; spec: object } | undefined, spec: object | null) {
  if (spec === null) return 'removing';
  if (!found || found.doing === 'removing') return 'making';
  return found.doing === 'making' && isDeepStrictEqual(found.spec, spec) ? 'making' : 'changing';
}
