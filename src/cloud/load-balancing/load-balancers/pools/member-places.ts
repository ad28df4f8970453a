import { sql } from 'kysely';
import { belongsTo, type Transaction } from '../../../../db/database.ts';
import { contains } from '../../../../lib/cidr.ts';
import { type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import type { Scope } from '../../../../platform.ts';
import type { WantedMember } from './rules.ts';

export type PlacedMember = Omit<WantedMember, 'at'>;

/**
 * Finds the subnets and instances of members. Subnets stay until the transaction ends, since members keep them from
 * deletion. @throws InvalidError for one that is unknown or doesn't have the member's address
 */
export async function placeMembers(
  tx: Transaction,
  scope: Scope,
  members: readonly WantedMember[],
): Promise<PlacedMember[]> {
  const subnets = await keptSubnets(
    tx,
    scope,
    members.flatMap(({ subnet_id }) => subnet_id ?? []),
  );
  const places = await instanceAddresses(
    tx,
    scope,
    members.flatMap(({ instance_id }) => instance_id ?? []),
  );
  const problems: FieldProblem[] = [];
  const placed = members.map(({ at, ...member }) => {
    if (member.subnet_id !== null) problems.push(...subnetProblems(member, at, subnets));
    if (member.instance_id === null) return member;
    const own = places.filter(({ instance_id }) => instance_id === member.instance_id);
    const fitting = own.filter(({ address }) => address === member.address);
    const place = fitting.find(({ subnet_id }) => subnet_id === (member.subnet_id ?? subnet_id));
    if (place) return { ...member, subnet_id: place.subnet_id };
    problems.push(instanceProblem(member, at, { own, fitting }));
    return member;
  });
  if (problems.length > 0) throw new InvalidError(problems);
  return placed;
}

function instanceProblem(
  { instance_id, address, subnet_id }: PlacedMember,
  at: string,
  { own, fitting }: Record<'fitting' | 'own', { address: string }[]>,
): FieldProblem {
  if (own.length === 0) {
    return { field: `${at}instance_id`, message: `No instance ${instance_id} in this project and region.` };
  }
  if (fitting.length > 0) {
    const message = `Instance ${instance_id} has ${address} in another subnet than ${subnet_id}; leave subnet_id out.`;
    return { field: `${at}subnet_id`, message };
  }
  const message = `Instance ${instance_id} has no address ${address}; it has: ${own.map((one) => one.address).join(', ')}.`;
  return { field: `${at}address`, message };
}

function subnetProblems(member: PlacedMember, at: string, subnets: ReadonlyMap<string, string>): FieldProblem[] {
  const cidr = subnets.get(member.subnet_id ?? '');
  if (cidr === undefined) {
    const message = `No subnet ${member.subnet_id} in this project and region.`;
    return [{ field: `${at}subnet_id`, message }];
  }
  if (contains(cidr, member.address)) return [];
  const message = `${member.address} is not in subnet ${member.subnet_id}, which is ${cidr}.`;
  return [{ field: `${at}address`, message }];
}

async function keptSubnets(tx: Transaction, scope: Scope, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; cidr: string }>`
    select subnets.id, subnets.cidr::text from subnets join networks on networks.id = network_id
    where subnets.id = any(${ids}::uuid[]) and ${belongsTo(scope, 'networks')} and subnets.ready
    order by subnets.id for key share of subnets`.execute(tx.sql);
  return new Map(rows.map(({ id, cidr }) => [id, cidr]));
}

async function instanceAddresses(tx: Transaction, scope: Scope, ids: string[]) {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ instance_id: string; address: string; subnet_id: string }>`
    select instances.id as instance_id, host(address) as address, subnet_id
    from instances join ports on ports.instance_id = instances.id join ip_assignments on port_id = ports.id
    where instances.id = any(${ids}::uuid[]) and ${belongsTo(scope, 'instances')}`.execute(tx.sql);
  return rows;
}
