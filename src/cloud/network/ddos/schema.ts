import { type Static, Type } from 'typebox';
import { LEGACY } from '../../../lib/legacy.ts';
import * as wire from '../../../lib/wire.ts';
import { DdosTemplateAnswer, ddosFieldFields } from '../../ground/catalog/schema.ts';

const BaseField = wire.IntegerId('ID of the template field');

export const DdosProfileAnswer = wire.Named('DdosProfile', {
  id: wire.IntegerId('Profile ID'),
  ip_address: Type.String({ description: 'Address that it protects', examples: ['198.18.16.5'] }),
  managed_by: wire.Choice(['system', 'user'], 'Always `user`'),
  options: wire.Named('DdosProfileOptions', {
    active: Type.Boolean({ description: 'Whether it protects the address' }),
    bgp: Type.Boolean({ description: 'Whether traffic is routed to the protection by BGP' }),
  }),
  status: wire.Named('DdosProfileStatus', {
    status: Type.String({
      description: '`Created`, `Updated`, `Activated`, `Deactivated` or what is under way or failed',
      examples: ['Updated'],
    }),
    error_description: Type.String({ description: 'Why the last change failed; empty if it did not' }),
  }),
  profile_template: wire.orNull(DdosTemplateAnswer, 'Its template; null if the region no longer offers it'),
  profile_template_description: wire.TextOrNull({ description: 'Description of the template' }),
  fields: Type.Array(
    wire.Named('DdosProfileField', {
      ...ddosFieldFields,
      base_field: BaseField,
      field_value: Type.Unknown({ description: 'Value of the field' }),
    }),
    { description: 'Fields that were given, as long as the template has them' },
  ),
  site: Type.Null({ description: 'Always null: there are no sites' }),
  protocols: Type.Null({ description: 'Always null: the fields of the template have them' }),
});
export type DdosProfileAnswer = Static<typeof DdosProfileAnswer>;
export const DdosProfileList = wire.listOf(DdosProfileAnswer, 'DdosProfileList');

const EXAMPLE = {
  profile_template: 29,
  ip_address: '198.18.16.5',
  fields: [{ base_field: 10, field_value: [45046, 45047] }],
};

const profile = {
  profile_template: wire.IntegerId('Template ID'),
  ip_address: wire.TextOrNull({ maxLength: 64, description: 'Public address of an instance or load balancer' }),
  fields: wire.OptionalList(
    wire.Input('DdosProfileFieldInput', {
      base_field: BaseField,
      field_value: Type.Optional(
        Type.Unknown({
          description: "Must fit the field's validation_schema; null stands for its default",
        }),
      ),
      value: wire.OptionalTextOrNull({
        ...LEGACY,
        maxLength: 500,
        description: 'Older form of `field_value`: the text of a basic value, also of a number',
      }),
    }),
    { maxItems: 100, description: 'Values of the fields of the template' },
  ),
  bm_instance_id: wire.OptionalText({
    ...LEGACY,
    maxLength: 255,
    description: 'Ignored: the address says what it belongs to',
  }),
};
export const CreateDdosProfile = wire.Input('CreateDdosProfile', profile, EXAMPLE);
export const UpdateDdosProfile = wire.Input('UpdateDdosProfile', profile, { ...EXAMPLE, ip_address: null });
export type MutateDdosProfile = Static<typeof CreateDdosProfile>;

export const ActOnDdosProfile = wire.Input(
  'ActOnDdosProfile',
  {
    active: Type.Boolean({ description: 'Whether it is to protect the address' }),
    bgp: Type.Boolean({ description: 'Whether traffic is to be routed to the protection by BGP' }),
  },
  { active: false, bgp: true },
);
export type ActOnDdosProfile = Static<typeof ActOnDdosProfile>;

const orders = ['id', 'ip_address', 'managed_by', 'site', 'status'] as const;
export const DdosProfileListQuery = wire.Query({
  ...wire.listQuery(),
  ip_address: wire.OptionalText({ maxLength: 64, description: 'Only profiles of this address, or of this network' }),
  managed_by: wire.OptionalList(wire.Choice(['system', 'user']), {
    maxItems: 2,
    description: 'Who made them; repeat for both',
  }),
  order_by: wire.OptionalChoice(
    orders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
    { default: 'id.asc' },
  ),
});
export type DdosProfileListQuery = Static<typeof DdosProfileListQuery>;

export const DdosProfileParams = Type.Object({
  ...wire.ProjectRegion,
  profile_id: wire.IntegerId('Profile ID'),
});
