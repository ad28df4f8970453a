import type { Forest } from '../tree/parts.ts';
import type { MemberAnswer, PoolAnswer } from './schema.ts';

type PoolInTree = Forest['pools'][number];

export function presentedPool(row: PoolInTree, forest: Forest): PoolAnswer {
  const { health_monitor: monitor, session_persistence } = row;
  const operating = (id: string) => forest.statuses.get(id) ?? 'OFFLINE';
  return {
    id: row.id,
    name: row.name,
    protocol: row.protocol,
    lb_algorithm: row.lb_algorithm,
    provisioning_status: row.provisioning_status,
    operating_status: operating(row.id),
    admin_state_up: row.admin_state_up,
    loadbalancers: [{ id: row.load_balancer_id }],
    listeners: (forest.listenersWith.get(row.id) ?? []).map(({ id }) => ({ id })),
    session_persistence,
    healthmonitor: monitor && {
      ...monitor,
      provisioning_status: row.provisioning_status,
      operating_status: operating(monitor.id),
    },
    members: (forest.membersOf.get(row.id) ?? []).map((member) => presentedMember(member, forest)),
    timeout_client_data: row.timeout_client_data,
    timeout_member_connect: row.timeout_member_connect,
    timeout_member_data: row.timeout_member_data,
    secret_id: row.secret_id,
    ca_secret_id: row.ca_secret_id,
    crl_secret_id: row.crl_secret_id,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
  };
}

export function presentedMember(row: Forest['members'][number], { statuses }: Forest): MemberAnswer {
  return { ...row, operating_status: statuses.get(row.id) ?? 'OFFLINE' };
}

/** In lists, members are only named unless details are asked for. */
export function presentedInList(row: PoolInTree, forest: Forest, { details }: { details: boolean }) {
  const pool = presentedPool(row, forest);
  return details ? pool : { ...pool, members: pool.members.map(({ id }) => ({ id })) };
}
