import type { Actions } from './actions.ts';
import { anyOf, removeByTask } from './common-actions.ts';
import type { Scope, Worker } from './world.ts';

const clusterPath = (scope: Scope, name: string) => `/cloud/v1/k8s/clusters${scope.place}/${name}`;
const clusterName = ({ random }: Worker) => `cluster-${random.whole(1, 2)}`;
const poolOf = (name: string) => ({
  name,
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 6,
  boot_volume_size: 50,
  boot_volume_type: 'standard',
  servergroup_policy: 'anti-affinity',
});

async function onCluster(
  worker: Worker,
  what: string,
  method: string,
  rest: string,
  body?: (scope: Scope) => object,
): Promise<void> {
  const scope = worker.scope();
  const path = clusterPath(scope, clusterName(worker)) + rest;
  const answer = await worker.send(what, method, path, body?.(scope));
  await worker.follow(answer, () => {});
}

/** All workers use clusters of a few names, which are made and deleted. */
export const clusterActions: Actions = {
  'create cluster': [
    6,
    async (worker) => {
      const { random } = worker;
      const scope = worker.scope();
      const name = clusterName(worker);
      const [subnet, { network = '' } = {}] = random.pick([...scope.known.subnets]) ?? [];
      const group = anyOf(worker, scope, 'groups');
      const key = random.pick([...scope.known.keys.values()])?.name ?? 'none';
      const pools = [
        {
          ...poolOf('first'),
          ...(group !== undefined && random.chance(0.4) && { security_group_ids: [group] }),
        },
      ];
      const body = {
        name,
        version: 'v1.32.13',
        keypair: key,
        pools,
        ...(subnet !== undefined && random.chance(0.5) && { fixed_network: network, fixed_subnet: subnet }),
      };
      const answer = await worker.send('create cluster', 'POST', `/cloud/v1/k8s/clusters${scope.place}`, body);
      await worker.follow(answer, () => worker.made(clusterPath(scope, name)));
    },
  ],
  'change cluster': [
    6,
    (worker) =>
      onCluster(worker, 'change cluster', 'PATCH', '', () => ({
        autoscaler_config: { 'scan-interval': `${worker.random.whole(10, 60)}s` },
      })),
  ],
  'create pool': [
    5,
    (worker) =>
      onCluster(worker, 'create pool', 'POST', '/pools', (scope) => {
        const group = anyOf(worker, scope, 'groups');
        return { ...poolOf('second'), ...(group !== undefined && { security_group_ids: [group] }) };
      }),
  ],
  'resize pool': [
    5,
    (worker) =>
      onCluster(worker, 'resize pool', 'POST', '/pools/first/resize', () => ({
        node_count: worker.random.whole(1, 6),
      })),
  ],
  'change pool': [
    3,
    (worker) =>
      onCluster(worker, 'change pool', 'PATCH', '/pools/first', () => ({
        labels: { mark: worker.mark },
        max_node_count: 6,
      })),
  ],
  'delete pool': [4, (worker) => onCluster(worker, 'delete pool', 'DELETE', '/pools/second')],
  'delete cluster': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const path = clusterPath(scope, clusterName(worker));
      await removeByTask(worker, 'delete cluster', path, () => {});
    },
  ],
};
