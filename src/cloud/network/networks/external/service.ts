import { sql } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import type { IpFamily } from '../../../../lib/cidr.ts';
import type { Platform } from '../../../../platform.ts';
import { type Principal, requirePlatform } from '../../../../requests/principal.ts';
import { countOrNull } from '../presenter.ts';
import type { ExternalAddressesQuery, ExternalPrefix } from './schema.ts';

/** Figures of a prefix. There may be more addresses than a number can say. */
interface Figures extends Pick<ExternalPrefix, 'cidr' | 'network_id' | 'network_name' | 'region_id' | 'subnet_id'> {
  family: IpFamily;
  total: bigint;
  inUse: number;
  free: bigint;
}

/** Counts from the index of addresses alone: the gateway's is the only one there that nobody holds. */
async function countExternalAddresses(db: Sql, regionId?: number): Promise<Figures[]> {
  const { rows } = await sql<Omit<Figures, 'free' | 'total'> & { free: string; total: string }>`
    select region_id, network_id, networks.name as network_name, subnets.id as subnet_id, cidr,
      case family(cidr) when 4 then 'IPv4' else 'IPv6' end as family,
      power(2::numeric, case family(cidr) when 4 then 32 else 128 end - masklen(cidr))::numeric(39, 0)::text as total,
      (total_ips - taken)::text as free,
      taken - case when gateway_ip between first_address and last_address then 1 else 0 end as "inUse"
    from networks join subnets on network_id = networks.id
    cross join lateral (select count(*) as taken from ip_assignments where subnet_id = subnets.id) as counted
    where external and ${regionId === undefined ? sql`true` : sql`region_id = ${regionId}`}
    order by region_id, networks.created_at, network_id, cidr`.execute(db);
  return rows.map(({ total, free, ...row }) => ({ ...row, total: BigInt(total), free: BigInt(free) }));
}

export const ADDRESSES_DUTY = 'sees how many public addresses are left';

/** Lists how many addresses of each external prefix are left. @throws ForbiddenError */
export async function listExternalAddresses(
  on: Platform,
  principal: Principal,
  { region_id }: ExternalAddressesQuery,
): Promise<{ results: ExternalPrefix[] }> {
  requirePlatform(principal, ADDRESSES_DUTY);
  const counted = await countExternalAddresses(on.database.sql, region_id);
  const results = counted.map(({ family, total, inUse, free, ...prefix }) => ({
    ...prefix,
    ip_version: family === 'IPv4' ? 4 : 6,
    total: countOrNull(total),
    in_use: inUse,
    free: countOrNull(free),
    kept: countOrNull(total - free - BigInt(inUse)),
  }));
  return { results };
}

interface RegionFigures {
  regionId: number;
  family: IpFamily;
  inUse: number;
  free: number;
  kept: number;
}

/** Counts the addresses of each region and family; those of IPv6 not to the last one. */
export async function countByRegion(db: Sql): Promise<RegionFigures[]> {
  const sums = new Map<string, RegionFigures>();
  for (const { region_id: regionId, family, total, inUse, free } of await countExternalAddresses(db)) {
    const key = `${regionId} ${family}`;
    const sum = sums.get(key) ?? { regionId, family, inUse: 0, free: 0, kept: 0 };
    sum.inUse += inUse;
    sum.free += Number(free);
    sum.kept += Number(total - free - BigInt(inUse));
    sums.set(key, sum);
  }
  return [...sums.values()];
}
