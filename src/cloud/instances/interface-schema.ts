import { type Static, Type } from 'typebox';
import { UuidInput } from '../../lib/resource-fields.ts';
import { listQuery } from '../../lib/wire.ts';
import { attachedInterfaceForms, type NewInterface } from './schema.ts';

export const InterfaceListQuery = Type.Object({ ...listQuery() }, { additionalProperties: false });

const attachFields = Type.Object({
  ddos_profile: Type.Optional(
    Type.Unsafe<object | null>({
      type: ['object', 'null'],
      description: 'Not offered: instances have no DDoS profiles here',
    }),
  ),
  port_group: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3,
      default: 0,
      description: 'Of bare metal machines; others have 0',
    }),
  ),
});
export type AttachInterface = NewInterface & Static<typeof attachFields>;

export const AttachInterface = Type.Unsafe<AttachInterface>({
  type: 'object',
  title: 'AttachInterface',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: attachedInterfaceForms(attachFields.properties),
  examples: [{ type: 'external' }],
});

export const DetachInterface = Type.Object(
  {
    port_id: UuidInput('Port ID'),
    ip_address: Type.String({ maxLength: 64, description: 'An address of the port' }),
  },
  {
    title: 'DetachInterface',
    additionalProperties: false,
    examples: [{ port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f', ip_address: '10.0.0.2' }],
  },
);
