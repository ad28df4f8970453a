import type { Answer } from '../../support/http-client.ts';
import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask } from './common-actions.ts';
import type { Scope, Worker } from './world.ts';

const FAMILIES = ['ipv4', 'ipv6', 'dual'] as const;

function wish(worker: Worker, scope: Scope) {
  const { random } = worker;
  const [subnet_id, { network: network_id } = {}] = random.pick([...scope.known.subnets]) ?? [];
  if (subnet_id === undefined || random.chance(0.4)) return { type: 'external' };
  return random.chance(0.5)
    ? { type: 'subnet', subnet_id }
    : { type: 'any_subnet', network_id, ip_family: random.one(FAMILIES) };
}

/** Does something to any DDoS profile, if there is one, and waits for its task. */
async function toAnyProfile(worker: Worker, act: (path: string) => ReturnType<Worker['send']>): Promise<void> {
  // There are few of them, and they go with their addresses.
  for (const { place } of worker.account.scopes) {
    const all = `/cloud/v1/ddos/profiles${place}`;
    const list = await worker.send('list DDoS profiles', 'GET', all);
    const profile = worker.random.pick<Answer['body']>(list.body?.results ?? []);
    if (profile) return worker.follow(await act(`${all}/${profile.id}`), () => {});
  }
}

export const addressActions: Actions = {
  'reserve address': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const body = { ...wish(worker, scope), is_vip: worker.random.chance(0.4) };
      const path = `/cloud/v1/reserved_fixed_ips${scope.place}`;
      const answer = await worker.send('reserve address', 'POST', path, body);
      await worker.follow(answer, ({ created_resources: { ports } }) => {
        scope.known.reserved.set(ports[0], {});
        worker.made(pathOf(scope, 'reserved_fixed_ips', ports[0]));
      });
    },
  ],
  'attach reserved address': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const [instance, port_id] = [anyOf(worker, scope, 'instances'), anyOf(worker, scope, 'reserved')];
      if (instance === undefined || port_id === undefined) return;
      const path = `${pathOf(scope, 'instances', instance)}/attach_interface`;
      const body = { type: 'reserved_fixed_ip', port_id };
      await worker.follow(await worker.send('attach reserved address', 'POST', path, body), () => {});
    },
  ],
  'switch virtual address': [
    6,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'reserved');
      if (id === undefined) return;
      const path = pathOf(scope, 'reserved_fixed_ips', id);
      await worker.send('switch virtual address', 'PATCH', path, { is_vip: worker.random.chance(0.7) });
    },
  ],
  'share virtual address': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const all = `/cloud/v1/reserved_fixed_ips${scope.place}?vip_only=true`;
      const list = await worker.send('list virtual addresses', 'GET', all);
      const vip = worker.random.pick<Answer['body']>(list.body?.results ?? []);
      if (!vip) return;
      const path = pathOf(scope, 'reserved_fixed_ips', vip.port_id);
      const { body } = await worker.send('list devices', 'GET', `${path}/available_devices`);
      const found = ((body?.results ?? []) as { port_id: string }[]).map(({ port_id }) => port_id);
      const port_ids = found.filter(() => worker.random.chance(0.5));
      const method = worker.random.one(['PATCH', 'PUT']);
      await worker.send('share virtual address', method, `${path}/connected_devices`, { port_ids });
    },
  ],
  'give address back': [
    6,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'reserved');
      if (id === undefined) return;
      await removeByTask(worker, 'give address back', pathOf(scope, 'reserved_fixed_ips', id), () =>
        scope.known.reserved.delete(id),
      );
    },
  ],
  'convert address': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'reserved');
      if (id === undefined) return;
      const path = pathOf(scope, 'reserved_fixed_ips', id);
      const body = { target_type: 'floating_ip' };
      const answer = await worker.send('convert address', 'POST', `${path}/convert`, body);
      await worker.follow(answer, ({ created_resources: { floatingips } }) => {
        worker.world.ledger.removed(path);
        scope.known.floating.set(floatingips[0], {});
        worker.made(pathOf(scope, 'floatingips', floatingips[0]));
      });
    },
  ],
  'convert floating IP': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'floating');
      if (id === undefined) return;
      const path = pathOf(scope, 'floatingips', id);
      const body = { target_type: 'reserved_fixed_ip' };
      const answer = await worker.send('convert floating IP', 'POST', `${path}/convert`, body);
      await worker.follow(answer, ({ created_resources: { ports } }) => {
        worker.world.ledger.removed(path);
        scope.known.reserved.set(ports[0], {});
        worker.made(pathOf(scope, 'reserved_fixed_ips', ports[0]));
      });
    },
  ],
  'protect address': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const all = `/cloud/v1/floatingips${scope.place}?status=ACTIVE`;
      const list = await worker.send('list floating IPs', 'GET', all);
      const floating = worker.random.pick<Answer['body']>(list.body?.results ?? []);
      if (!floating) return;
      const body = {
        profile_template: 29,
        ip_address: floating.floating_ip_address,
        fields: [{ base_field: 10, field_value: [worker.random.whole(1000, 65_535)] }],
      };
      const path = `/cloud/v1/ddos/profiles${scope.place}`;
      await worker.follow(await worker.send('protect address', 'POST', path, body), () => {});
    },
  ],
  'switch protection': [
    4,
    (worker) =>
      toAnyProfile(worker, (path) =>
        worker.send('switch protection', 'POST', `${path}/action`, {
          active: worker.random.chance(0.5),
          bgp: worker.random.chance(0.5),
        }),
      ),
  ],
  'end protection': [2, (worker) => toAnyProfile(worker, (path) => worker.send('end protection', 'DELETE', path))],
  'delete floating IP': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'floating');
      if (id === undefined) return;
      await removeByTask(worker, 'delete floating IP', pathOf(scope, 'floatingips', id), () =>
        scope.known.floating.delete(id),
      );
    },
  ],
};
