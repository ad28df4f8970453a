import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask, rename, sharedName } from './common-actions.ts';
import type { Scope, Worker } from './world.ts';

/** Few and small ranges: they overlap, and their few addresses are used up. */
function cidr({ random }: Worker): string {
  const base = 8 * random.whole(0, 5);
  return random.chance(0.7) ? `10.77.0.${base}/29` : `fd00:77::${base === 0 ? '' : base.toString(16)}/125`;
}

function ruleOf({ random }: Worker, scope: Scope) {
  const port = random.whole(1, 12);
  const remote = random.pick([...scope.known.groups.keys()]);
  return {
    direction: 'ingress',
    protocol: random.one(['tcp', 'udp']),
    port_range_min: port,
    port_range_max: port,
    ...(random.chance(0.2) && remote !== undefined && { remote_group_id: remote }),
  };
}

export const networkActions: Actions = {
  'create group': [
    10,
    async (worker) => {
      const { random } = worker;
      const scope = worker.scope();
      const instance = anyOf(worker, scope, 'instances');
      const body = {
        security_group: { name: sharedName(worker, 'group'), security_group_rules: [] },
        ...(random.chance(0.3) && instance !== undefined && { instances: [instance] }),
      };
      const { ok, body: made } = await worker.send(
        'create group',
        'POST',
        `/cloud/v1/securitygroups${scope.place}`,
        body,
      );
      if (!ok) return;
      scope.known.groups.set(made.id, {});
      worker.made(pathOf(scope, 'securitygroups', made.id));
    },
  ],
  'create group by task': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const body = { name: sharedName(worker, 'group'), rules: [ruleOf(worker, scope)] };
      const answer = await worker.send('create group by task', 'POST', `/cloud/v2/security_groups${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            security_groups: [id],
          },
        }) => {
          scope.known.groups.set(id, {});
          worker.made(pathOf(scope, 'securitygroups', id));
        },
      );
    },
  ],
  'change group': [
    10,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'groups');
      if (id !== undefined) await rename(worker, 'change group', pathOf(scope, 'securitygroups', id), true);
    },
  ],
  'add rule': [
    10,
    async (worker) => {
      const scope = worker.scope();
      const group = anyOf(worker, scope, 'groups');
      if (group === undefined) return;
      const path = pathOf(scope, 'securitygroups', group);
      const { ok, body } = await worker.send('add rule', 'POST', `${path}/rules`, ruleOf(worker, scope));
      if (!ok) return;
      scope.known.rules.set(body.id, { group });
      worker.world.ledger.changed(path);
    },
  ],
  'add rule by task': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const group = anyOf(worker, scope, 'groups');
      if (group === undefined) return;
      const path = `/cloud/v2/security_groups${scope.place}/${group}/rules`;
      const answer = await worker.send('add rule by task', 'POST', path, ruleOf(worker, scope));
      if (!answer.ok) return;
      worker.world.ledger.changed(pathOf(scope, 'securitygroups', group));
      await worker.follow(
        answer,
        ({
          created_resources: {
            security_group_rules: [id],
          },
        }) => {
          scope.known.rules.set(id, { group });
        },
      );
    },
  ],
  'delete rule': [
    8,
    async (worker) => {
      const scope = worker.scope();
      const [id, { group = '' } = {}] = worker.random.pick([...scope.known.rules]) ?? [];
      if (id === undefined) return;
      const { ok, status } = await worker.send(
        'delete rule',
        'DELETE',
        `/cloud/v1/securitygrouprules${scope.place}/${id}`,
      );
      if (ok) worker.world.ledger.changed(pathOf(scope, 'securitygroups', group));
      if (ok || status === 404) scope.known.rules.delete(id);
    },
  ],
  'delete group': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'groups');
      if (id === undefined) return;
      const path = pathOf(scope, 'securitygroups', id);
      const { ok, status } = await worker.send('delete group', 'DELETE', path);
      if (ok) worker.world.ledger.removed(path);
      if (ok || status === 404) scope.known.groups.delete(id);
    },
  ],
  'create network': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const body = {
        name: sharedName(worker, 'network'),
        create_router: worker.random.chance(0.5),
        type: worker.random.one(['vlan', 'vxlan']),
      };
      const answer = await worker.send('create network', 'POST', `/cloud/v1/networks${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            networks: [id],
          },
        }) => {
          scope.known.networks.set(id, {});
          worker.made(pathOf(scope, 'networks', id));
        },
      );
    },
  ],
  'change network': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'networks');
      if (id !== undefined) await rename(worker, 'change network', pathOf(scope, 'networks', id));
    },
  ],
  'change network by task': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'networks');
      if (id === undefined) return;
      const tags = { 'by-task': worker.mark };
      const answer = await worker.send('change network by task', 'PATCH', `/cloud/v2/networks${scope.place}/${id}`, {
        tags,
      });
      await worker.follow(answer, () => {});
    },
  ],
  'delete network': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'networks');
      if (id === undefined) return;
      await removeByTask(worker, 'delete network', pathOf(scope, 'networks', id), () =>
        scope.known.networks.delete(id),
      );
    },
  ],
  'create subnet': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const network = anyOf(worker, scope, 'networks');
      if (network === undefined) return;
      const range = cidr(worker);
      const body = {
        name: sharedName(worker, 'subnet'),
        network_id: network,
        cidr: range,
        // Inside the range it is not given to ports, at the end it isn't one of their addresses.
        ...(worker.random.chance(0.5) && { gateway_ip: neighbour(range, 3) }),
      };
      const answer = await worker.send('create subnet', 'POST', `/cloud/v1/subnets${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            subnets: [id],
          },
        }) => {
          scope.known.subnets.set(id, { network, range });
          worker.made(pathOf(scope, 'subnets', id), pathOf(scope, 'networks', network));
        },
      );
    },
  ],
  'change subnet': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const [id, { range = '' } = {}] = worker.random.pick([...scope.known.subnets]) ?? [];
      if (id === undefined) return;
      const path = pathOf(scope, 'subnets', id);
      if (worker.random.chance(0.6)) return rename(worker, 'change subnet', path);
      const gateway_ip = worker.random.one([null, neighbour(range, worker.random.whole(1, 6))]);
      await worker.send('move gateway', 'PATCH', path, { gateway_ip });
    },
  ],
  'delete subnet': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'subnets');
      if (id === undefined) return;
      await removeByTask(worker, 'delete subnet', pathOf(scope, 'subnets', id), () => scope.known.subnets.delete(id));
    },
  ],
};

/** Returns the address that is `offset` after the first of a range. */
function neighbour(range: string, offset: number): string {
  const [base = ''] = range.split('/');
  const separator = base.includes(':') ? ':' : '.';
  const radix = separator === ':' ? 16 : 10;
  const parts = base.split(separator);
  const last = Number.parseInt(parts.at(-1) || '0', radix) + offset;
  return [...parts.slice(0, -1), last.toString(radix)].join(separator);
}
