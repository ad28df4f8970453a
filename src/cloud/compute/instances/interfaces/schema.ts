import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { Input, listQuery, nullable, Query } from '../../../../lib/wire.ts';
import { anyInterface } from './any-interface.ts';

export const InterfaceListQuery = Query({ ...listQuery() });

const DdosField = Input('InterfaceDdosField', {
  base_field: Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'ID of the template field',
  }),
  field_value: Type.Optional(
    Type.Unknown({ description: 'Any JSON value that satisfies the validation schema of the field' }),
  ),
  value: Type.Optional(
    nullable(
      Type.String({
        maxLength: 500,
        description:
          'Older form of field_value: the text of a basic value, also of a number. Only one of the two',
        deprecated: true,
      }),
    ),
  ),
});

export const AttachInterface = Input(
  'AttachInterface',
  {
    ...anyInterface,
    ddos_profile: Type.Optional(
      nullable(
        Type.Object(
          {
            profile_template: Type.Integer({ description: 'ID of a template of the region' }),
            profile_template_name: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
            fields: Type.Optional(Type.Array(DdosField, { maxItems: 100 })),
          },
          {
            title: 'InterfaceDdosProfile',
            additionalProperties: false,
            deprecated: true,
            description:
              "Validated but not stored: traffic isn't filtered, and the instance shows no profile",
          },
        ),
      ),
    ),
  },
  { type: 'external' },
);
export type AttachInterface = Static<typeof AttachInterface>;

export const DetachInterface = Input(
  'DetachInterface',
  {
    port_id: UuidInput('Port ID'),
    ip_address: Type.String({ maxLength: 64, description: 'Address of the port' }),
  },
  { port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f', ip_address: '10.0.0.2' },
);
