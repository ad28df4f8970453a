import { sql } from 'kysely';
import type { FloatingIpSpec } from '../../backends/contract/specs.ts';
import type { Transaction } from '../../db/database.ts';

/** Floating IPs as their rows in the transaction say them, by id. */
export async function floatingIpSpecs(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, FloatingIpSpec>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{
    id: string;
    address: string;
    port_id: string | null;
    fixed_address: string | null;
    tags: Record<string, string>;
  }>`
    select id, host(address) as address, port_id, host(fixed_address) as fixed_address, tags
    from floating_ips where id = any(${ids}::uuid[]) order by id`.execute(tx.sql);
  return new Map(
    rows.map(({ id, address, port_id: portId, fixed_address: fixedAddress, tags }) => {
      const target = portId !== null && fixedAddress !== null ? { target: { portId, fixedAddress } } : {};
      return [id, { address, ...target, metadata: tags }];
    }),
  );
}
