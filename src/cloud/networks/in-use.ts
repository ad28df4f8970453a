import type { Transaction } from '../../db/database.ts';
import type { Place } from '../../db/place.ts';
import { ConflictError } from '../../lib/errors.ts';
import { clustersIn } from '../clusters/in-transaction.ts';
import { sharesIn } from '../file-shares/in-transaction.ts';
import { balancersIn } from '../load-balancers/in-transaction.ts';
import type { NetworkOrSubnet } from './in-transaction.ts';
import { portsIn } from './network-rows.ts';

const SHOWN_IN_MESSAGE = 10;

/** @throws ConflictError naming what uses the network or the subnet, which must be locked */
export async function refuseUsed(
  tx: Transaction,
  place: Place,
  what: string,
  where: NetworkOrSubnet,
): Promise<void> {
  const others = [
    ...(await clustersIn(tx, place, where, SHOWN_IN_MESSAGE)),
    ...(await sharesIn(tx, place, where, SHOWN_IN_MESSAGE)),
    ...(await balancersIn(tx, place, where, SHOWN_IN_MESSAGE)),
  ];
  const ports = await portsIn(tx, where, SHOWN_IN_MESSAGE);
  const named = ports
    .filter(({ poolId, loadBalancerId }) => (poolId ?? loadBalancerId) === null || others.length === 0)
    .map(({ id, instanceId, instanceName }) =>
      instanceId === null ? `port ${id}` : `port ${id} of instance ${instanceName} (${instanceId})`,
    );
  const fixes = [
    ...(others.length > 0 ? [`delete these first: ${others.join(', ')}`] : []),
    ...(named.length > 0
      ? [`detach these interfaces or delete their instances first: ${named.join(', ')}`]
      : []),
  ];
  if (fixes.length > 0) throw new ConflictError(`${what} is in use; ${fixes.join('; ')}`);
}
