import { type Static, Type } from 'typebox';
import { ResourceName } from '../../lib/wire.ts';
import { exceededQuotasSchema } from '../quotas/exceeded-answer.ts';
import { CreateInstanceSchema, MAX_INTERFACES, MAX_VOLUMES } from './schema.ts';

const { flavor, interfaces, volumes } = CreateInstanceSchema.properties;

export const FlavorsForVolumes = Type.Object(
  { volumes },
  {
    title: 'FlavorsForVolumes',
    description: 'Volumes as a creation takes them.',
    additionalProperties: false,
    examples: [
      { volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }] },
    ],
  },
);
export type FlavorsForVolumes = Static<typeof FlavorsForVolumes>;

export const CheckInstanceLimits = Type.Object(
  {
    flavor: Type.Optional(flavor),
    names: Type.Optional(
      Type.Array(ResourceName('Name'), {
        minItems: 1,
        maxItems: 1000,
        description: 'One for each instance; one instance when left out',
      }),
    ),
    interfaces: Type.Optional(Type.Array(interfaces.items, { maxItems: MAX_INTERFACES })),
    volumes: Type.Optional(Type.Array(volumes.items, { maxItems: MAX_VOLUMES })),
  },
  {
    title: 'CheckInstanceLimits',
    description: 'Instances that might be made, each with these interfaces and volumes.',
    additionalProperties: false,
    examples: [
      {
        flavor: 'g1-standard-1-2',
        names: ['web-1', 'web-2'],
        interfaces: [{ type: 'external' }],
        volumes: [{ source: 'new-volume', size: 10 }],
      },
    ],
  },
);
export type CheckInstanceLimits = Static<typeof CheckInstanceLimits>;

export const ExceededInstanceQuotas = exceededQuotasSchema('ExceededInstanceQuotas', [
  'floating_count',
  'vm_count',
  'volume_count',
]);

export const ConsoleQuery = Type.Object(
  {
    console_type: Type.Optional(
      Type.String({ maxLength: 64, description: 'Kind of console', examples: ['novnc'] }),
    ),
  },
  { additionalProperties: false },
);

export const ConsoleAnswer = Type.Object(
  {
    remote_console: Type.Object(
      { protocol: Type.String(), type: Type.String(), url: Type.String({ format: 'uri' }) },
      { title: 'RemoteConsole' },
    ),
  },
  { title: 'InstanceConsole' },
);
