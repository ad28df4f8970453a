import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

const { Array: List, Boolean: Flag, Integer, String: Text } = Type;

const reason = Text({
  minLength: 1,
  maxLength: 500,
  description: 'Why, and until when: accounts see it in refusals',
  examples: ['New switches, until 14:00 UTC'],
});
const backendName = { minLength: 1, maxLength: 100, examples: ['hosted'] };

export const Maintenance = wire.Named('Maintenance', {
  id: wire.IntegerId('Maintenance'),
  region_id: wire.IntegerOrNull({ description: 'Region; null if it is about a backend' }),
  backend: wire.TextOrNull({
    ...backendName,
    description: 'Backend in all of its regions; null if it is about a region',
  }),
  reason,
  unfinished: Integer({ description: 'Infrastructure in it that is not as wanted yet' }),
  failing: Integer({ description: 'How much of that failed last time and is tried again' }),
  drained: Flag({ description: 'Whether nothing is going on in it any more; false in the first seconds' }),
  created_by: Integer({ description: 'The user who began it' }),
  created_at: wire.Timestamp('Since when'),
});
export type Maintenance = Static<typeof Maintenance>;
export const Maintenances = wire.Named('Maintenances', { results: List(Maintenance) });

export const NewMaintenance = wire.Input(
  'NewMaintenance',
  {
    region_id: Type.Optional(wire.IntegerId('Region; or name a backend')),
    backend: wire.OptionalText({ ...backendName, description: 'Backend of the catalogue; or name a region' }),
    reason,
  },
  { region_id: 3, reason: 'New switches, until 14:00 UTC' },
);
export type NewMaintenance = Static<typeof NewMaintenance>;

export const MaintenanceParams = Type.Object({ maintenance_id: wire.IntegerId('Maintenance') });
