import type { Name } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { LOOKED_AT, someOf } from '../../../lib/held.ts';
import { usedBy } from '../../ground/tasks/service.ts';
import { portsIn } from './network-rows.ts';
import type { NetworkOrSubnet } from './service.ts';
import { balancersIn, clustersIn, sharesIn } from './users.ts';

/**
 * @throws ConflictError naming what uses the network or the subnet, which must be locked; a deletion may wait if all of it
 * is removed
 */
export async function refuseUsed(
  tx: Transaction,
  place: Place,
  what: string,
  where: NetworkOrSubnet,
): Promise<void> {
  const others = [
    ...(await clustersIn(tx, place, where, LOOKED_AT)),
    ...(await sharesIn(tx, place, where, LOOKED_AT)),
    ...(await balancersIn(tx, place, where, LOOKED_AT)),
  ];
  const ports = (await portsIn(tx, where, LOOKED_AT)).filter(
    // The others go together with what they belong to.
    ({ poolId, loadBalancerId, reserved }) =>
      (poolId ?? loadBalancerId) === null || reserved || others.length === 0,
  );
  const named = ports.map(({ id, instanceId, instanceName }) =>
    instanceId === null ? `port ${id}` : `port ${id} of instance ${instanceName} (${instanceId})`,
  );
  const fixes = [
    ...(others.length > 0 ? [`delete these first: ${someOf(others.map(({ title }) => title))}`] : []),
    ...(named.length > 0
      ? [`detach these interfaces or delete their instances first: ${someOf(named)}`]
      : []),
  ];
  if (fixes.length === 0) return;
  const users: Name[][] = [
    ...others.map(({ kind, id }) => [{ kind, id }]),
    ...ports.map(({ id, instanceId, reserved }): Name[] => [
      { kind: 'port', id },
      ...(instanceId === null || reserved ? [] : [{ kind: 'machine' as const, id: instanceId }]),
    ]),
  ];
  throw await usedBy(tx, `${what} is in use; ${fixes.join('; ')}`, users);
}
