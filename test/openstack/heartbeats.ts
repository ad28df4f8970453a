// What amphorae tell Octavia of their members. Nothing runs in those of the rig, so that tests tell it for them.
import { createCloudClient } from './cloud-client.ts';
import { HEARTBEAT_KEY, HERE, heartbeatPort } from './configuration.ts';
import type { Rig } from './rig.ts';

/** What HAProxy calls what Octavia then shows as the operating status of a member. */
const STATUSES = { ONLINE: 'UP', ERROR: 'DOWN', DRAINING: 'DRAIN', OFFLINE: 'MAINT', NO_MONITOR: 'no check' } as const;
export type MemberStatus = keyof typeof STATUSES;
const NO_TRAFFIC = { tx: 0, rx: 0, conns: 0, totconns: 0, ereq: 0 };

interface Identified {
  id: string;
}
interface Tree {
  statuses: { loadbalancer: { listeners: (Identified & { pools: (Identified & { members: Identified[] })[] })[] } };
}

const SEND = `import json, socket, sys
from octavia.amphorae.backends.health_daemon.status_message import wrap_envelope
_, message, key, host, port = sys.argv
envelope = wrap_envelope(json.loads(message), key)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(envelope, (host, int(port)))`;

/**
 * Tells Octavia how the members of a load balancer are, by their IDs there; those that aren't named are online. Octavia
 * shows it about a second later, also at the pools and at the load balancer. One that isn't told of again stays so.
 */
export async function sendHeartbeat(
  rig: Rig,
  loadBalancerId: string,
  members: Readonly<Record<string, MemberStatus>>,
): Promise<void> {
  const port = Number(new URL(rig.authUrl).port);
  const cloud = await createCloudClient(port);
  const [{ amphorae }, { statuses }] = await Promise.all([
    cloud.call<{ amphorae: Identified[] }>(
      'GET',
      'octavia',
      `/v2/octavia/amphorae?loadbalancer_id=${loadBalancerId}&status=ALLOCATED`,
    ),
    cloud.call<Tree>('GET', 'octavia', `/v2/lbaas/loadbalancers/${loadBalancerId}/status`),
  ]);
  const { listeners } = statuses.loadbalancer;
  const pools = listeners.flatMap((listener) =>
    listener.pools.map((pool) => {
      const states = pool.members.map(({ id }) => [id, STATUSES[members[id] ?? 'ONLINE']] as const);
      const isDown = states.length > 0 && states.every(([, status]) => status === 'DOWN');
      return [`${pool.id}:${listener.id}`, { status: isDown ? 'DOWN' : 'UP', members: Object.fromEntries(states) }];
    }),
  );
  const message = {
    id: amphorae[0]?.id,
    seq: 0,
    ver: 3,
    listeners: Object.fromEntries(listeners.map(({ id }) => [id, { status: 'OPEN', stats: NO_TRAFFIC }])),
    pools: Object.fromEntries(pools),
  };
  const where = [HEARTBEAT_KEY, HERE, String(heartbeatPort(port))];
  await rig.inside('python3', '-c', SEND, JSON.stringify(message), ...where);
}
