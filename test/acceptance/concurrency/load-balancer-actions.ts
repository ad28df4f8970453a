import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask, sharedName } from './common-actions.ts';
import type { Kind, Scope, Worker } from './world.ts';

const member = ({ random }: Worker) => ({
  address: `10.9.0.${random.whole(1, 6)}`,
  protocol_port: random.whole(80, 82),
});

const membersOf = (scope: Scope, poolId: string) => `/cloud/v1/loadbalancers${scope.place}/pools/${poolId}/members`;

function know(scope: Scope, kind: Kind, ids: readonly string[]): void {
  for (const id of ids) scope.known[kind].set(id, {});
}

/** Does something to anything of a kind that is known, if there is any, and waits for its task. */
const toAny =
  (
    what: string,
    kind: Kind,
    request: (worker: Worker, scope: Scope, id: string) => { method?: string; path: string; body: object } | undefined,
    then: (scope: Scope, created: Record<string, string[]>) => void = () => {},
  ) =>
  async (worker: Worker): Promise<void> => {
    const scope = worker.scope();
    const id = anyOf(worker, scope, kind);
    const asked = id === undefined ? undefined : request(worker, scope, id);
    if (!asked) return;
    const { method = 'POST', path, body } = asked;
    await worker.follow(await worker.send(what, method, path, body), (task) => then(scope, task.created_resources));
  };

const removing = (what: string, kind: Kind, family: string) => async (worker: Worker) => {
  const scope = worker.scope();
  const id = anyOf(worker, scope, kind);
  if (id === undefined) return;
  await removeByTask(worker, what, pathOf(scope, family, id), () => scope.known[kind].delete(id));
};

/** Removes a part of a load balancer. Parts go with it as well, so the ledger doesn't know them. */
const removingPart = (what: string, kind: Kind, family: string) => async (worker: Worker) => {
  const scope = worker.scope();
  const id = anyOf(worker, scope, kind);
  if (id === undefined) return;
  const answer = await worker.send(what, 'DELETE', pathOf(scope, family, id));
  if (answer.ok || answer.status === 404) scope.known[kind].delete(id);
  await worker.follow(answer, () => {});
};

/** Returns the ids of the listeners or pools that a load balancer has. */
async function partsOf(
  worker: Worker,
  scope: Scope,
  balancer: string,
  family: 'lblisteners' | 'lbpools',
): Promise<string[]> {
  const path = `/cloud/v1/${family}${scope.place}?load_balancer_id=${balancer}`;
  const { body, ok } = await worker.send('look at a load balancer', 'GET', path);
  return ok ? body.results.map(({ id }: { id: string }) => id) : [];
}

function vipOf(worker: Worker, scope: Scope) {
  const { random } = worker;
  if (random.chance(0.3)) return { vip_port_id: anyOf(worker, scope, 'reserved') };
  if (random.chance(0.5)) return {};
  return {
    vip_network_id: anyOf(worker, scope, 'networks'),
    ...(random.chance(0.5) && { floating_ip: { source: 'new' } }),
  };
}

export const loadBalancerActions: Actions = {
  'create load balancer': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const body = { name: sharedName(worker, 'balancer'), ...vipOf(worker, scope) };
      const path = `/cloud/v1/loadbalancers${scope.place}`;
      const answer = await worker.send('create load balancer', 'POST', path, body);
      await worker.follow(answer, ({ created_resources: { loadbalancers, floatingips } }) => {
        const [id] = loadbalancers;
        scope.known.balancers.set(id, {});
        worker.made(pathOf(scope, 'loadbalancers', id));
        for (const floating of floatingips) {
          scope.known.floating.set(floating, {});
          worker.made(pathOf(scope, 'floatingips', floating));
        }
      });
    },
  ],
  'fail over load balancer': [
    2,
    toAny('fail over load balancer', 'balancers', (_, scope, id) => ({
      path: `${pathOf(scope, 'loadbalancers', id)}/failover`,
      body: {},
    })),
  ],
  'create listener': [
    5,
    toAny(
      'create listener',
      'balancers',
      (worker, scope, load_balancer_id) => ({
        path: `/cloud/v1/lblisteners${scope.place}`,
        body: {
          name: sharedName(worker, 'listener'),
          load_balancer_id,
          protocol: 'HTTP',
          protocol_port: worker.random.whole(80, 84),
        },
      }),
      (scope, { listeners = [] }) => know(scope, 'listeners', listeners),
    ),
  ],
  'look at a load balancer': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'balancers');
      if (id === undefined) return;
      know(scope, 'listeners', await partsOf(worker, scope, id, 'lblisteners'));
      know(scope, 'lbPools', await partsOf(worker, scope, id, 'lbpools'));
    },
  ],
  'delete listener': [4, removingPart('delete listener', 'listeners', 'lblisteners')],
  'create pool of load balancer': [
    5,
    toAny(
      'create pool of load balancer',
      'balancers',
      (worker, scope, load_balancer_id) => ({
        path: `/cloud/v1/lbpools${scope.place}`,
        body: {
          name: sharedName(worker, 'pool'),
          load_balancer_id,
          protocol: 'HTTP',
          lb_algorithm: 'ROUND_ROBIN',
          members: [member(worker)],
          ...(worker.random.chance(0.5) && {
            healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 },
          }),
        },
      }),
      (scope, { pools = [] }) => know(scope, 'lbPools', pools),
    ),
  ],
  'add pool member': [
    6,
    toAny('add pool member', 'lbPools', (worker, scope, id) => ({
      path: `${pathOf(scope, 'lbpools', id)}/member`,
      body: member(worker),
    })),
  ],
  'replace pool members': [
    3,
    toAny('replace pool members', 'lbPools', (worker, scope, id) => ({
      method: 'PATCH',
      path: `/cloud/v2/lbpools${scope.place}/${id}`,
      body: { members: [member(worker)] },
    })),
  ],
  'replace the list of pool members': [
    3,
    toAny('replace the list of pool members', 'lbPools', (worker, scope, id) => ({
      method: 'PUT',
      path: membersOf(scope, id),
      body: [member(worker)],
    })),
  ],
  'change pool member': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const pool = anyOf(worker, scope, 'lbPools');
      if (pool === undefined) return;
      const path = membersOf(scope, pool);
      const { body, ok } = await worker.send('list pool members', 'GET', path);
      const found = worker.random.pick<{ id: string }>(ok ? body.results : []);
      if (!found) return;
      const one = `${path}/${found.id}`;
      const change = { weight: worker.random.whole(1, 3) };
      await worker.follow(await worker.send('change pool member', 'PATCH', one, change), () => {});
    },
  ],
  'change health monitor': [
    2,
    toAny('change health monitor', 'lbPools', (worker, scope, id) => ({
      method: 'PATCH',
      path: `${pathOf(scope, 'lbpools', id)}/healthmonitor`,
      body: { delay: worker.random.whole(10, 12) },
    })),
  ],
  'create health monitor': [
    2,
    toAny('create health monitor', 'lbPools', (_, scope, id) => ({
      path: `${pathOf(scope, 'lbpools', id)}/healthmonitor`,
      body: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 },
    })),
  ],
  'redirect to pool': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const balancer = anyOf(worker, scope, 'balancers');
      if (balancer === undefined) return;
      const [listeners, pools] = await Promise.all([
        partsOf(worker, scope, balancer, 'lblisteners'),
        partsOf(worker, scope, balancer, 'lbpools'),
      ]);
      const listener_id = worker.random.pick(listeners) ?? anyOf(worker, scope, 'listeners');
      if (listener_id === undefined) return;
      const foreign = worker.random.chance(0.2) ? anyOf(worker, scope, 'lbPools') : undefined;
      const answer = await worker.send('redirect to pool', 'POST', `/cloud/v1/l7policies${scope.place}`, {
        listener_id,
        action: 'REDIRECT_TO_POOL',
        redirect_pool_id: foreign ?? worker.random.pick(pools) ?? listener_id,
        position: worker.random.whole(1, 3),
      });
      await worker.follow(answer, () => {});
    },
  ],
  'delete pool of load balancer': [2, removingPart('delete pool of load balancer', 'lbPools', 'lbpools')],
  'rename load balancer': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'balancers');
      if (id === undefined) return;
      const path = `/cloud/v2/loadbalancers${scope.place}/${id}`;
      const answer = await worker.send('rename load balancer', 'PATCH', path, {
        name: sharedName(worker, 'balancer'),
      });
      await worker.follow(answer, () => {});
    },
  ],
  'delete load balancer': [2, removing('delete load balancer', 'balancers', 'loadbalancers')],
};
