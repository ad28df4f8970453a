import { sql } from 'kysely';
import type { FloatingIpSpec } from '../../../backends/contract/specs.ts';
import { amend, dependentsOf, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { wayOutOf } from './way-out.ts';

interface FloatingIpParts {
  id: string;
  address: string;
  port_id: string | null;
  fixed_address: string | null;
  router_id: string | null;
  tags: Record<string, string>;
}

/** Tasks that take floating IPs from ports that may stay. Their rows say so only when the task ends. */
const UNASSIGNING = ['delete_loadbalancer', 'delete_vm', 'detach_vm_interface'];

/**
 * Returns the specs of floating IPs by ID, from their rows in the transaction. A floating IP whose port is being
 * removed has no target: otherwise the port would wait for it. Nor has one that a task takes from its port.
 */
export async function floatingIpSpecs(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, FloatingIpSpec>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<FloatingIpParts>`
    select id, address, fixed_address, tags,
      ${wayOutOf('floating_ips.port_id', 'floating_ips.fixed_address')} as router_id, case when not exists (
      select from wants where kind = 'port' and wants.id = port_id and spec is null)
      and not exists (
      select from tasks where tasks.id = floating_ips.task_id and task_type = any(${UNASSIGNING}::text[]))
      then port_id end as port_id
    from floating_ips where id = any(${ids}::uuid[]) order by id`.execute(tx.sql);
  return new Map(rows.map((row) => [row.id, specOf(row)]));
}

/** Wants floating IPs as they are in their rows. */
export async function asInRows(tx: Transaction, ids: readonly string[]): Promise<Wanted[]> {
  return [...(await floatingIpSpecs(tx, ids))].map(([id, spec]) => amend('floating_ip', id, () => spec));
}

/** Removes the ports from the targets of wanted floating IPs. */
export async function awayFrom(tx: Transaction, portIds: readonly string[]): Promise<Wanted[]> {
  if (portIds.length === 0) return [];
  const ports = portIds.map((id) => ({ kind: 'port' as const, id }));
  return (await dependentsOf(tx, 'floating_ip', ports)).map((id) =>
    amend('floating_ip', id, (spec) => {
      if (!spec?.target || !portIds.includes(spec.target.portId)) return spec;
      const { target: _, ...left } = spec;
      return left;
    }),
  );
}

function specOf({ address, port_id, fixed_address, router_id, tags }: FloatingIpParts): FloatingIpSpec {
  return {
    address,
    ...(port_id !== null &&
      fixed_address !== null && {
        target: {
          portId: port_id,
          fixedAddress: fixed_address,
          ...(router_id !== null && { routerId: router_id }),
        },
      }),
    metadata: tags,
  };
}
