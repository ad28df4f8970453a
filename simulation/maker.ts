import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { type Kind, Refused, Unavailable } from '../src/backends/contract/backend.ts';
import type { BackendMaker, MadeBackend } from '../src/backends/maker.ts';
import { createSimulatedBackend } from './backend.ts';
import { createFaults, type FaultRule, FaultRules, type Faults } from './faults.ts';
import { HealthRules } from './health.ts';
import { findObject } from './objects.ts';

/** When to ask again about a thing that stays as it is. */
const STAY_MS = 100;

/** A simulated backend in which things go wrong by rule. */
export function createFaultyBackend(
  deps: Parameters<typeof createSimulatedBackend>[0] & { faults: Faults },
): MadeBackend {
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
    // The rules are about calls.
    atOnce: (...asked) => (faults.any ? undefined : backend.atOnce?.(...asked)) ?? new Map(),
    async converge(ref, spec, call) {
      const fault = await faultOf(ref.kind, ref.id, spec);
      switch (fault?.do) {
        case 'refuse':
          throw new Refused(fault.reason ?? 'The simulation refuses it because of a configured fault');
        case 'unavailable':
          throw new Unavailable(fault.reason ?? 'the simulation is unreachable because of a configured fault');
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

const Settings = Type.Object(
  {
    speed: Type.Optional(
      Type.Number({ minimum: 0.01, maximum: 100_000, description: 'A factor; 1 is the normal speed' }),
    ),
    hosts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Hosts for machines, of which anti-affinity groups need one each; unlimited by default',
      }),
    ),
    kept_addresses: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        description: 'Addresses of each new subnet that are kept, as real networks keep some for DHCP; none by default',
      }),
    ),
    faults: Type.Optional(FaultRules),
    health: Type.Optional(HealthRules),
  },
  { additionalProperties: false },
);

export const simulated: BackendMaker = {
  settings: Settings,
  secrets: [],
  removesOrphans: true,
  keeps: (settings) => (settings as Static<typeof Settings>).kept_addresses ?? 0,
  make({ settings }, host) {
    const { sql, secrets } = host;
    const { speed, hosts, faults, health = [] } = settings as Static<typeof Settings>;
    return createFaultyBackend({
      sql,
      secrets,
      get speed() {
        return speed ?? host.simulationSpeed;
      },
      hosts,
      health,
      faults: createFaults(faults),
    });
  },
};
