import { sql } from 'kysely';
import type { FloatingIpSpec, MachineSpec } from '../../../backends/contract/specs.ts';
import { change, remove, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { asInRows as floatingIpsInRows } from '../../network/floating-ips/wanted.ts';
import { asInRows as portsInRows } from '../../network/ports/wanted.ts';

interface MachineRows {
  name: string;
  flavor_id: string;
  server_group_id: string | null;
  tags: Record<string, string>;
  disks: {
    volume_id: string;
    device: string;
    boot_index: number | null;
    attachment_tag: string | null;
    delete_on_termination: boolean;
  }[];
  ports: { id: string; position: number }[];
}

/** What is only in the request for a new machine. */
export interface FirstBoot {
  publicKey: string | undefined;
  username: string | undefined;
  secrets: Record<string, string>;
}

/** Returns the spec of a running machine, from its rows in the transaction. */
export async function newMachineSpec(
  tx: Transaction,
  instanceId: string,
  { publicKey, username, secrets }: FirstBoot,
): Promise<MachineSpec> {
  const { rows } = await sql<MachineRows>`
    select name, flavor_id, tags,
      (select server_group_id from server_group_members where instance_id = instances.id) as server_group_id,
      (select coalesce(json_agg(attachment), '[]') from volume_attachments as attachment
        where instance_id = instances.id) as disks,
      (select coalesce(json_agg(json_build_object('id', id, 'position', position)), '[]') from ports
        where instance_id = instances.id) as ports
    from instances where id = ${instanceId}`.execute(tx.sql);
  const [machine] = rows;
  if (!machine) throw new TypeError('the instance was written before');
  return {
    name: machine.name,
    flavorId: machine.flavor_id,
    disks: Object.fromEntries(machine.disks.map((disk) => [disk.volume_id, diskSpec(disk)])),
    ports: Object.fromEntries(machine.ports.map(({ id, position }) => [id, { position }])),
    ...(machine.server_group_id !== null && { serverGroupId: machine.server_group_id }),
    ...(publicKey !== undefined && { publicKey }),
    ...(username !== undefined && { username }),
    secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, true])),
    power: 'on',
    reboots: { soft: 0, hard: 0 },
    metadata: machine.tags,
  };
}

function diskSpec(disk: MachineRows['disks'][number]): MachineSpec['disks'][string] {
  return {
    device: disk.device,
    ...(disk.boot_index !== null && { bootIndex: disk.boot_index }),
    ...(disk.attachment_tag !== null && { tag: disk.attachment_tag }),
    deleteOnTermination: disk.delete_on_termination,
  };
}

export const ofMachine = (id: string, changed: (spec: MachineSpec) => Partial<MachineSpec>): Wanted =>
  change('machine', id, (spec) => ({ ...spec, ...changed(spec) }));

/** Wants ports and floating IPs as their rows are now, new or not. */
export async function asRows(
  tx: Transaction,
  { portIds, floatingIpIds }: { portIds: readonly string[]; floatingIpIds: readonly string[] },
): Promise<Wanted[]> {
  return [...(await portsInRows(tx, portIds)), ...(await floatingIpsInRows(tx, floatingIpIds))];
}

/** Wants floating IPs of ports that are removed: the doomed ones are removed, the others lose their target. */
export function withoutTarget(ids: readonly string[], doomed: readonly string[]): Wanted[] {
  const nowhere = ({ target: _, ...spec }: FloatingIpSpec): FloatingIpSpec => spec;
  return ids.map((id) =>
    doomed.includes(id) ? remove('floating_ip', id) : change('floating_ip', id, nowhere),
  );
}
