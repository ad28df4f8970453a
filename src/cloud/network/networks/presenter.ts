import { commonFields } from '../../../lib/resource-fields.ts';
import { keepsGateway } from '../../../lib/subnet-ranges.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import type { Scope } from '../../../platform.ts';
import type { NetworkAnswer, SubnetAnswer } from './schema.ts';
import type { NetworkRow, SubnetRow } from './store.ts';

export function presentedNetwork(row: NetworkRow, scope: Scope): NetworkAnswer {
  return {
    default: row.is_default,
    ...row,
    ...commonFields(row, scope),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

export function presentedSubnet(row: SubnetRow, scope: Scope): SubnetAnswer {
  const pool = { first: row.first_address, last: row.last_address };
  // A gateway in the middle counts as a used address in the row, but ports can't get it anyway.
  const kept = keepsGateway(pool, row.gateway_ip) ? 1n : 0n;
  const total = BigInt(row.total_ips);
  return {
    ip_version: row.cidr.includes(':') ? 6 : 4,
    ...row,
    available_ips: countOrNull(total - BigInt(row.used_ips)),
    total_ips: countOrNull(total - kept),
    has_router: false,
    // The platform's resources belong to no project. Every project sees them with its own ID.
    ...commonFields({ ...row, project_id: scope.projectId }, scope),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

/** Null stands for a count that can't be expressed (as published): most clients read nothing beyond 2^53 (RFC 8259, 6). */
export function countOrNull(count: bigint): number | null {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : null;
}
