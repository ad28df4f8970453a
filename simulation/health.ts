import { type Static, Type } from 'typebox';
import type { LoadBalancerSpec, MemberHealth } from '../src/backends/contract/specs.ts';
import { globOf } from '../src/lib/texts.ts';

/** How healthy the members of load balancers are. The first rule that fits counts; without one, they are ONLINE. */
export const HealthRules = Type.Array(
  Type.Object(
    {
      address: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: '^[^*]*(\\*[^*]*){0,2}$',
          description: 'Only members with this address: `?` stands for one character, `*` (twice at most) for any.',
        }),
      ),
      port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Only members with this port.' })),
      status: Type.Enum(['DRAINING', 'ERROR', 'ONLINE'] satisfies MemberHealth[], {
        type: 'string',
        description: 'What the health monitor of the pool finds.',
      }),
    },
    { additionalProperties: false },
  ),
  { maxItems: 100 },
);
export type Health = Static<typeof HealthRules>;

/** What the rules say of each member. A monitor asks another address or port where the member names one. */
export function healthOf({ pools }: LoadBalancerSpec, rules: Health): Record<string, MemberHealth> {
  const members = Object.values(pools).flatMap((pool) => Object.entries(pool.members));
  return Object.fromEntries(
    members.map(([id, member]) => {
      const asked = member.monitorAddress ?? member.address;
      const port = member.monitorPort ?? member.port;
      const rule = rules.find(
        (one) => (one.port ?? port) === port && (one.address === undefined || globOf(one.address)(asked)),
      );
      return [id, rule?.status ?? 'ONLINE'];
    }),
  );
}
