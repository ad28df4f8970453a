import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import * as wire from '../../../../lib/wire.ts';
import { IpFamilyInput } from '../../../network/addresses/schema.ts';
import { InterfaceFloatingIp, interfaceFields, type NewInterface } from '../schema.ts';

/** The fields that each kind of interface needs, and those that it also takes. */
const KINDS = {
  external: { needed: [], taken: ['ip_family'] },
  subnet: { needed: ['subnet_id'], taken: ['network_id', 'ip_family', 'floating_ip'] },
  any_subnet: { needed: ['network_id'], taken: ['ip_address', 'ip_family', 'floating_ip'] },
  reserved_fixed_ip: { needed: ['port_id'], taken: ['ip_family', 'floating_ip'] },
} as const satisfies Record<NewInterface['type'], { needed: readonly Field[]; taken: readonly Field[] }>;
type Field = (typeof FIELDS)[number];
const FIELDS = ['floating_ip', 'ip_address', 'ip_family', 'network_id', 'port_id', 'subnet_id'] as const;

/** The fields of all kinds of interfaces in one object. Its type may be left out, as the other fields imply it. */
export const anyInterface = {
  type: wire.OptionalChoice(Object.keys(KINDS) as NewInterface['type'][], {
    description:
      'Defaults to `reserved_fixed_ip` if a port is set, `subnet` if a subnet is set, `any_subnet` if a network is set, else `external`',
  }),
  network_id: Type.Optional(UuidInput('Network, required for `any_subnet`')),
  subnet_id: Type.Optional(UuidInput('Subnet, required for `subnet`')),
  port_id: Type.Optional(UuidInput('Port of the reserved fixed IP, required for `reserved_fixed_ip`')),
  ip_address: wire.OptionalTextOrNull({ maxLength: 64, description: 'Free address to use, for `any_subnet`' }),
  ip_family: IpFamilyInput,
  floating_ip: Type.Optional(InterfaceFloatingIp()),
  ...interfaceFields,
  port_group: wire.OptionalInteger({
    minimum: 0,
    maximum: 3,
    default: 0,
    description: 'Only for bare metal machines; must be 0 on others',
  }),
};
const AnyInterface = Type.Object(anyInterface);
export type AnyInterface = Static<typeof AnyInterface>;

/** Returns missing and unsuitable fields for the interface's type. `at` in the body is empty or ends with a dot. */
export function kindProblems(given: AnyInterface, at: string): FieldProblem[] {
  const type = kindOf(given);
  const { needed, taken }: { needed: readonly Field[]; taken: readonly Field[] } = KINDS[type];
  return FIELDS.flatMap((name): FieldProblem[] => {
    const there = (given[name] ?? null) !== null;
    if (needed.includes(name)) {
      return there ? [] : [{ field: at + name, message: `This field is required: the type is ${type}.` }];
    }
    if (!there || taken.includes(name)) return [];
    return [{ field: at + name, message: `Is not allowed for type ${type}; leave it out.` }];
  });
}

/** Returns the interface with its type. Call it once there are no such problems. */
export function ofItsKind(given: AnyInterface): NewInterface {
  return { ...given, type: kindOf(given) } as NewInterface;
}

function kindOf({ type, port_id, subnet_id, network_id }: AnyInterface): NewInterface['type'] {
  if (type !== undefined) return type;
  if (port_id !== undefined) return 'reserved_fixed_ip';
  if (subnet_id !== undefined) return 'subnet';
  return network_id === undefined ? 'external' : 'any_subnet';
}

export const InterfaceListQuery = wire.Query({ ...wire.listQuery() });

const DdosField = wire.Input('InterfaceDdosField', {
  base_field: Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'ID of the template field',
  }),
  field_value: Type.Optional(
    Type.Unknown({ description: 'Any JSON value that satisfies the validation schema of the field' }),
  ),
  value: wire.OptionalTextOrNull({
    maxLength: 500,
    description: 'Older form of field_value: the text of a basic value, also of a number. Only one of the two',
    deprecated: true,
  }),
});

export const AttachInterface = wire.Input(
  'AttachInterface',
  {
    ...anyInterface,
    ddos_profile: Type.Optional(
      wire.nullable(
        Type.Object(
          {
            profile_template: Type.Integer({ description: 'ID of a template of the region' }),
            profile_template_name: wire.OptionalTextOrNull({ maxLength: 255 }),
            fields: wire.OptionalList(DdosField, { maxItems: 100 }),
          },
          {
            title: 'InterfaceDdosProfile',
            additionalProperties: false,
            deprecated: true,
            description: "Validated but not stored: traffic isn't filtered, and the instance shows no profile",
          },
        ),
      ),
    ),
  },
  { type: 'external' },
);
export type AttachInterface = Static<typeof AttachInterface>;

export const DetachInterface = wire.Input(
  'DetachInterface',
  {
    port_id: UuidInput('Port ID'),
    ip_address: Type.String({ maxLength: 64, description: 'Address of the port' }),
  },
  { port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f', ip_address: '10.0.0.2' },
);
