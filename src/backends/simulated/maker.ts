import { type Static, Type } from 'typebox';
import type { BackendMaker } from '../maker.ts';
import { createFaults, FaultRules } from './faults.ts';
import { createFaultyBackend } from './faulty-backend.ts';
import { HealthRules } from './health.ts';

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
    faults: Type.Optional(FaultRules),
    health: Type.Optional(HealthRules),
  },
  { additionalProperties: false },
);

export const simulated: BackendMaker = {
  settings: Settings,
  secrets: [],
  removesOrphans: true,
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
