import type { Answer } from '../../support/http-client.ts';
import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask, rename, sharedName } from './common-actions.ts';
import type { Scope, Worker } from './world.ts';

const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';
const FLAVOR = 'g1-standard-1-2';
const OTHER_FLAVOR = 'g1-standard-2-4';

const FAMILIES = [null, 'ipv4', 'ipv6', 'dual'] as const;

/** An interface on a subnet of which others want addresses too, or on the external network. */
function interfaceOf(worker: Worker, scope: Scope) {
  const [subnet_id, { network = '' } = {}] = worker.random.pick([...scope.known.subnets]) ?? [];
  if (subnet_id === undefined || worker.random.chance(0.2)) return { type: 'external' };
  return worker.random.chance(0.5)
    ? { type: 'subnet', network_id: network, subnet_id }
    : { type: 'any_subnet', network_id: network, ip_family: worker.random.one(FAMILIES) };
}

function noteVolumes(worker: Worker, scope: Scope, ids: string[] = []): void {
  for (const id of ids) {
    scope.known.volumes.set(id, {});
    worker.made(pathOf(scope, 'volumes', id));
  }
}

function notePorts(worker: Worker, scope: Scope, ids: string[], instance: string): void {
  for (const id of ids) {
    scope.known.ports.set(id, { instance });
    worker.made(pathOf(scope, 'ports', id), pathOf(scope, 'instances', instance));
  }
}

async function onInstance(
  worker: Worker,
  what: string,
  build: (scope: Scope, id: string) => { path: string; body: object } | undefined,
  then: (task: Answer['body'], scope: Scope, id: string) => void = () => {},
): Promise<void> {
  const scope = worker.scope();
  const id = anyOf(worker, scope, 'instances');
  const request = id === undefined ? undefined : build(scope, id);
  if (id === undefined || !request) return;
  const answer = await worker.send(what, 'POST', request.path, request.body);
  await worker.follow(answer, (task) => then(task, scope, id));
}

async function onVolume(
  worker: Worker,
  what: string,
  verb: string,
  body: (scope: Scope) => object | undefined,
): Promise<void> {
  const scope = worker.scope();
  const id = anyOf(worker, scope, 'volumes');
  const sent = body(scope);
  if (id === undefined || !sent) return;
  const version = ['attach', 'detach'].includes(verb) ? 'v2' : 'v1';
  const path = `/cloud/${version}/volumes${scope.place}/${id}/${verb}`;
  const answer = await worker.send(what, 'POST', path, sent);
  await worker.follow(answer, () => {});
}

export const computeActions: Actions = {
  'create placement group': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const policy = worker.random.one(['affinity', 'anti-affinity', 'soft-anti-affinity'] as const);
      const body = { name: sharedName(worker, 'placement'), policy };
      const { ok, body: made } = await worker.send(
        'create placement group',
        'POST',
        `/cloud/v1/servergroups${scope.place}`,
        body,
      );
      if (!ok) return;
      scope.known.placements.set(made.servergroup_id, {});
      worker.made(pathOf(scope, 'servergroups', made.servergroup_id));
    },
  ],
  'put into placement group': [
    4,
    async (worker) => {
      await onInstance(worker, 'put into placement group', (scope, id) => {
        const servergroup_id = anyOf(worker, scope, 'placements');
        if (servergroup_id === undefined) return undefined;
        return { path: `${pathOf(scope, 'instances', id)}/put_into_servergroup`, body: { servergroup_id } };
      });
    },
  ],
  'remove from placement group': [
    3,
    async (worker) => {
      await onInstance(worker, 'remove from placement group', (scope, id) => ({
        path: `${pathOf(scope, 'instances', id)}/remove_from_servergroup`,
        body: {},
      }));
    },
  ],
  'delete placement group': [
    2,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'placements');
      if (id === undefined) return;
      await removeByTask(worker, 'delete placement group', pathOf(scope, 'servergroups', id), () =>
        scope.known.placements.delete(id),
      );
    },
  ],
  'create volume': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const host = anyOf(worker, scope, 'instances');
      const body = {
        source: 'new-volume',
        name: sharedName(worker, 'volume'),
        size: worker.random.whole(1, 5),
        ...(worker.random.chance(0.3) && host !== undefined && { instance_id_to_attach_to: host }),
      };
      const answer = await worker.send('create volume', 'POST', `/cloud/v1/volumes${scope.place}`, body);
      await worker.follow(answer, (task) => noteVolumes(worker, scope, task.created_resources.volumes));
    },
  ],
  'change volume': [
    6,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'volumes');
      if (id !== undefined) await rename(worker, 'change volume', pathOf(scope, 'volumes', id));
    },
  ],
  'attach volume': [
    12,
    (worker) =>
      onVolume(worker, 'attach volume', 'attach', (scope) => {
        const instance_id = anyOf(worker, scope, 'instances');
        return instance_id === undefined ? undefined : { instance_id };
      }),
  ],
  'detach volume': [
    8,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'volumes');
      if (id === undefined) return;
      const seen = await worker.send('read volume', 'GET', pathOf(scope, 'volumes', id));
      const instance_id = seen.body?.attachments?.[0]?.server_id;
      if (instance_id === undefined) return;
      const path = `/cloud/v2/volumes${scope.place}/${id}/detach`;
      const answer = await worker.send('detach volume', 'POST', path, { instance_id });
      await worker.follow(answer, () => {});
    },
  ],
  'extend volume': [
    5,
    (worker) => onVolume(worker, 'extend volume', 'extend', () => ({ size: worker.random.whole(2, 60) })),
  ],
  'retype volume': [
    3,
    (worker) =>
      onVolume(worker, 'retype volume', 'retype', () => ({
        volume_type: worker.random.one(['standard', 'ssd_hiiops']),
      })),
  ],
  'revert volume': [
    5,
    async (worker) => {
      const scope = worker.scope();
      // Any other has nothing to go back to.
      const { volume } = worker.random.pick([...scope.known.snapshots.values()]) ?? {};
      if (volume === undefined) return;
      const path = `${pathOf(scope, 'volumes', volume)}/revert`;
      const answer = await worker.send('revert volume', 'POST', path, {});
      await worker.follow(answer, () => {});
    },
  ],
  'delete volume': [
    6,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'volumes');
      if (id === undefined) return;
      const own = [...scope.known.snapshots].filter(([, { volume }]) => volume === id).map(([name]) => name);
      const query = own.length > 0 && worker.random.chance(0.6) ? `?snapshots=${own.join(',')}` : '';
      await removeByTask(worker, 'delete volume', `${pathOf(scope, 'volumes', id)}${query}`, () =>
        scope.known.volumes.delete(id),
      );
    },
  ],
  'create snapshot': [
    7,
    async (worker) => {
      const scope = worker.scope();
      const volume = anyOf(worker, scope, 'volumes');
      if (volume === undefined) return;
      const body = { name: sharedName(worker, 'snapshot'), volume_id: volume };
      const answer = await worker.send('create snapshot', 'POST', `/cloud/v1/snapshots${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            snapshots: [id],
          },
        }) => {
          scope.known.snapshots.set(id, { volume });
          worker.made(pathOf(scope, 'snapshots', id), pathOf(scope, 'volumes', volume));
        },
      );
    },
  ],
  'change snapshot': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'snapshots');
      if (id !== undefined) await rename(worker, 'change snapshot', pathOf(scope, 'snapshots', id));
    },
  ],
  'delete snapshot': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'snapshots');
      if (id === undefined) return;
      await removeByTask(worker, 'delete snapshot', pathOf(scope, 'snapshots', id), () =>
        scope.known.snapshots.delete(id),
      );
    },
  ],
  'create instance': [
    14,
    async (worker) => {
      const { random } = worker;
      const scope = worker.scope();
      const volume = anyOf(worker, scope, 'volumes');
      const group = anyOf(worker, scope, 'groups');
      const placement = anyOf(worker, scope, 'placements');
      const boot = { source: 'image', image_id: IMAGE, size: 10, boot_index: 0 };
      const body = {
        name: sharedName(worker, 'instance'),
        flavor: FLAVOR,
        interfaces: Array.from({ length: random.whole(1, 2) }, () => interfaceOf(worker, scope)),
        volumes: [
          { ...boot, delete_on_termination: random.chance(0.7) },
          ...(volume !== undefined && random.chance(0.3) ? [{ source: 'existing-volume', volume_id: volume }] : []),
        ],
        ...(group !== undefined && random.chance(0.5) && { security_groups: [{ id: group }] }),
        ...(placement !== undefined && random.chance(0.2) && { servergroup_id: placement }),
      };
      const answer = await worker.send('create instance', 'POST', `/cloud/v2/instances${scope.place}`, body);
      await worker.follow(answer, ({ created_resources: made }) => {
        const [id] = made.instances;
        scope.known.instances.set(id, {});
        worker.made(pathOf(scope, 'instances', id));
        noteVolumes(worker, scope, made.volumes);
        notePorts(worker, scope, made.ports, id);
      });
    },
  ],
  'change instance': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'instances');
      if (id !== undefined) await rename(worker, 'change instance', pathOf(scope, 'instances', id));
    },
  ],
  'act on instance': [
    6,
    (worker) =>
      onInstance(worker, 'act on instance', (scope, id) => ({
        path: `/cloud/v2/instances${scope.place}/${id}/action`,
        body: {
          action: worker.random.one(['start', 'stop', 'reboot', 'reboot_hard', 'suspend', 'resume']),
        },
      })),
  ],
  'change flavor': [
    3,
    (worker) =>
      onInstance(worker, 'change flavor', (scope, id) => ({
        path: `${pathOf(scope, 'instances', id)}/changeflavor`,
        body: { flavor_id: worker.random.one([FLAVOR, OTHER_FLAVOR]) },
      })),
  ],
  'assign group': [
    6,
    (worker) =>
      onInstance(worker, 'assign group', (scope, id) => ({
        path: `${pathOf(scope, 'instances', id)}/addsecuritygroup`,
        body: { name: sharedName(worker, 'group') },
      })),
  ],
  'unassign group': [
    6,
    (worker) =>
      onInstance(worker, 'unassign group', (scope, id) => ({
        path: `${pathOf(scope, 'instances', id)}/delsecuritygroup`,
        body: { name: sharedName(worker, 'group') },
      })),
  ],
  'attach interface': [
    9,
    (worker) =>
      onInstance(
        worker,
        'attach interface',
        (scope, id) => ({
          path: `${pathOf(scope, 'instances', id)}/attach_interface`,
          body: interfaceOf(worker, scope),
        }),
        (task, scope, id) => notePorts(worker, scope, task.created_resources.ports, id),
      ),
  ],
  'detach interface': [
    9,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'instances');
      if (id === undefined) return;
      const path = pathOf(scope, 'instances', id);
      const list = await worker.send('list interfaces', 'GET', `${path}/interfaces`);
      const port = worker.random.pick<Answer['body']>(list.body?.results ?? []);
      if (!port) return;
      const body = { port_id: port.port_id, ip_address: port.ip_assignments[0]?.ip_address ?? '10.0.0.1' };
      const answer = await worker.send('detach interface', 'POST', `${path}/detach_interface`, body);
      // A reserved port stays.
      if (scope.known.reserved.has(port.port_id)) return worker.follow(answer, () => {});
      await worker.follow(answer, () => worker.world.ledger.removed(pathOf(scope, 'ports', port.port_id)));
    },
  ],
  'change port': [
    8,
    async (worker) => {
      const { random, world } = worker;
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'ports');
      if (id === undefined) return;
      const path = pathOf(scope, 'ports', id);
      const value = `${worker.mark}-${random.whole(1, 1_000_000_000)}`;
      const key = `tag-${random.whole(1, 12)}`;
      const group = anyOf(worker, scope, 'groups');
      const [subnet_id, { range = '' } = {}] = random.pick([...scope.known.subnets]) ?? [];
      const address = `${range.split('.', 3).join('.')}.${random.whole(1, 46)}`;
      const body = {
        tags: { [key]: value },
        ...(group !== undefined && random.chance(0.3) && { security_group_ids: [group] }),
        ...(subnet_id !== undefined && random.chance(0.3) && { ip_assignments: [{ subnet_id, ip_address: address }] }),
      };
      const answer = await worker.send('change port', 'PATCH', path, body);
      if (answer.status === 404) scope.known.ports.delete(id);
      await worker.follow(answer, () => world.ledger.wrote(path, `tags.${key}`, value, answer.span));
    },
  ],
  'delete instance': [
    6,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'instances');
      if (id === undefined) return;
      await removeByTask(
        worker,
        'delete instance',
        pathOf(scope, 'instances', id),
        () => scope.known.instances.delete(id),
        ({ data }) => {
          for (const volume of data.volumes) worker.world.ledger.removed(pathOf(scope, 'volumes', volume));
        },
      );
    },
  ],
};
