import { Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { MachineObservation, Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { unlessForbidden, unlessGone } from '../cloud/errors.ts';
import { isLookedAtOften, MARK, markOf, type Resource, type Site, type Step } from '../resource.ts';
import { changePower, powerNotes } from './power.ts';
import { act, Server } from './server.ts';
import { userDataOf } from './user-data.ts';

const One = Type.Object({ server: Server });
const Made = Type.Object({ server: Type.Object({ id: Type.String() }) });
const Flavor = Type.Object({ flavor: Type.Object({ id: Type.String(), name: Type.String() }) });
const Attachment = Type.Object({ volumeId: Type.String() });
/** Of Cinder, which has its own. */
const VolumeAttachment = Type.Object({ id: Type.String(), instance: Type.Union([Type.String(), Type.Null()]) });
const Port = Type.Object({ id: Type.String() });
const Action = Type.Object({
  action: Type.String(),
  message: Type.Union([Type.String(), Type.Null()]),
  request_id: Type.String(),
});
const Events = Type.Object({ instanceAction: Type.Object({ events: Type.Array(Type.Unknown()) }) });
type MachineSpec = Specs['machine'];
/** In these states Nova takes the order for a hard reboot. */
const REBOOTING = ['rebooting', 'reboot_pending', 'reboot_started'];
const POWERING = ['powering-off', 'powering-on', 'suspending', 'resuming'];

export const machines: Resource<'machine', Server> = {
  paceMs: 500,
  async marked({ api, ref }) {
    const found = await api.list('compute', '/servers/detail', Server, { tags: markOf(ref) }, 'servers');
    return found.toSorted((one, other) => one.created.localeCompare(other.created));
  },
  get: async (api, id) => (await api.find('compute', `/servers/${id}`, One))?.server,
  async create(site, spec) {
    const { api, names, ref } = site;
    const ports = Object.entries(spec.ports).toSorted(([, one], [, other]) => one.position - other.position);
    const key_name = await giveKey(site, spec);
    const user_data = await userDataOf(spec, site.call);
    const group = spec.serverGroupId && (await names.of(api, 'server_group', spec.serverGroupId));
    const server = {
      name: spec.name,
      flavorRef: flavorIn(site, spec),
      networks:
        ports.length === 0
          ? 'none'
          : await Promise.all(ports.map(async ([id]) => ({ port: await names.of(api, 'port', id) }))),
      block_device_mapping_v2: await disksOf(site, spec),
      config_drive: true,
      tags: [markOf(ref)],
      metadata: { [MARK]: ref.id },
      ...(key_name !== undefined && { key_name }),
      ...(user_data !== undefined && { user_data }),
    };
    const hints = group ? { 'os:scheduler_hints': { group } } : {};
    const made = await api
      .send('compute', 'POST', '/servers', { server, ...hints }, Made)
      .catch(async (error: unknown) => {
        await takeKey(site);
        // Nova repeats what it doesn't take, and there may be secrets in it.
        if (error instanceof Refused && error.message.includes('user_data'))
          throw new Refused("Nova does not take the machine's user data");
        throw error;
      });
    await takeKey(site);
    const live = { ...NEW, id: made.server.id };
    return {
      ...live,
      notes: { ...powerNotes({ ...spec, power: 'on' }), group: spec.serverGroupId ?? null, flavor: spec.flavorId },
    };
  },
  async change(site, live, spec) {
    const { api } = site;
    const task = live['OS-EXT-STS:task_state'];
    if (task !== null) return awaitTask(site, live, task);
    if (live.status === 'BUILD') return { doing: 'building' };
    if (live.status === 'VERIFY_RESIZE') {
      await act(api, live, { confirmResize: null });
      return { doing: 'resizing' };
    }
    if (live.status === 'ERROR' && (!site.call.wasThere || wasAsked(site, 'resize')))
      throw new Refused(live.fault?.message ?? 'Nova could not make the machine, and does not say why');
    if (live.name !== spec.name) {
      await api.send('compute', 'PUT', `/servers/${live.id}`, { server: { name: spec.name } });
      return { doing: 'renaming' };
    }
    await refuseOtherGroup(site, live, spec);
    return (
      (await changeFlavor(site, live, spec)) ??
      (await changeDisks(site, live, spec)) ??
      (await changePorts(site, live, spec)) ??
      changePower(site, live, spec)
    );
  },
  async remove({ api, notes }, live) {
    if (live['OS-EXT-STS:task_state'] === 'deleting') {
      if (!isLookedAtOften(notes, 'deleting') || !(await isUnheard(api, live))) return;
      await resetState(api, live);
    }
    await api.send('compute', 'DELETE', `/servers/${live.id}`, undefined);
  },
  async forget(site, serverId) {
    await takeKey(site);
    if (serverId !== undefined) await freeVolumes(site.api, serverId);
  },
  observed: (live) =>
    live['OS-EXT-STS:task_state'] === 'deleting' || live.status === 'DELETED' ? null : powerOf(live),
  seen: (live) => [
    live.name,
    powerOf(live).power ?? null,
    live.flavor.original_name,
    live['os-extended-volumes:volumes_attached'].map(({ id }) => id).toSorted(),
    macAddressesOf(live),
  ],
  all: (api) => api.list('compute', '/servers/detail', Server, undefined, 'servers'),
  idOf: ({ metadata }) => metadata[MARK],
};

/** Of a machine that Nova has only just accepted: it may not even find it for a moment. */
const NEW: Server = {
  id: '',
  name: '',
  status: 'BUILD',
  'OS-EXT-STS:task_state': 'scheduling',
  created: '',
  addresses: {},
  flavor: { original_name: '' },
  metadata: {},
  server_groups: [],
  'os-extended-volumes:volumes_attached': [],
};

function powerOf({ status, host_status }: Server): MachineObservation {
  if (status === 'ERROR') return { power: 'crashed' };
  if (status === 'SUSPENDED') return {};
  if (host_status === 'DOWN' || host_status === 'UNKNOWN') return { power: 'host_gone' };
  return { power: status === 'SHUTOFF' ? 'stopped' : 'running' };
}

/** A port that somebody deletes is missing here. */
function macAddressesOf({ addresses }: Server): string[] {
  const all = Object.values(addresses).flatMap((of) => of.map((one) => one['OS-EXT-IPS-MAC:mac_addr']));
  return [...new Set(all)].toSorted();
}

/** Nova takes no other order while it believes that one is being carried out, but for a hard reboot after a reboot. */
async function awaitTask({ api, notes }: Site<'machine'>, live: Server, task: string): Promise<Step> {
  if (!isLookedAtOften(notes, task)) return { doing: task };
  if (REBOOTING.includes(task)) await act(api, live, { reboot: { type: 'HARD' } });
  else if (POWERING.includes(task) && (await isUnheard(api, live))) await resetState(api, live);
  return { doing: task };
}

/** Whether no host has heard of the last order. One that has takes its time. */
async function isUnheard(api: Api, { id }: Pick<Server, 'id'>): Promise<boolean> {
  const [last] = await actionsOf(api, id);
  if (!last) return false;
  const { instanceAction } = await api.get('compute', `/servers/${id}/os-instance-actions/${last.request_id}`, Events);
  return instanceAction.events.length === 0;
}

/** Makes Nova take orders for a machine again: one in ERROR may be rebooted or deleted. Only administrators may do that. */
async function resetState(api: Api, live: Pick<Server, 'id'>): Promise<void> {
  await act(api, live, { 'os-resetState': { state: 'error' } }).catch(unlessForbidden);
}

const flavorIn = ({ names }: Site, { flavorId }: MachineSpec): string => names.mappings.flavors[flavorId] ?? flavorId;

/** A key has to have a name in Nova when a machine is made, and not for longer. */
async function giveKey({ api, ref }: Site<'machine'>, { publicKey }: MachineSpec): Promise<string | undefined> {
  if (publicKey === undefined) return undefined;
  const name = markOf(ref);
  await api
    .send('compute', 'POST', '/os-keypairs', { keypair: { name, public_key: publicKey } })
    .catch((error: unknown) => {
      if (!(error instanceof Refused && 'status' in error && error.status === 409)) throw error;
    });
  return name;
}

async function takeKey({ api, ref }: Pick<Site<'machine'>, 'api' | 'ref'>): Promise<void> {
  // One that is left goes with its machine at the latest.
  await api.send('compute', 'DELETE', `/os-keypairs/${markOf(ref)}`, undefined).catch(() => {});
}

/** Nova boots only from what says that it can be booted from; an empty disk doesn't say so by itself. */
async function disksOf({ api, names }: Site<'machine'>, { disks }: MachineSpec) {
  const inOrder = Object.entries(disks).toSorted(
    ([, one], [, other]) => (one.bootIndex ?? 99) - (other.bootIndex ?? 99),
  );
  if (inOrder.length === 0) throw new Refused('A machine needs a volume to boot from');
  return Promise.all(
    inOrder.map(async ([id, { bootIndex, tag }], index) => {
      const uuid = await names.of(api, 'volume', id);
      const isFirst = index === 0;
      if (isFirst)
        await api.send('volume', 'POST', `/volumes/${uuid}/action`, { 'os-set_bootable': { bootable: true } });
      return {
        uuid,
        source_type: 'volume',
        destination_type: 'volume',
        boot_index: isFirst ? 0 : (bootIndex ?? -1),
        delete_on_termination: false,
        ...(tag !== undefined && { tag }),
      };
    }),
  );
}

/** Only one machine is shown with its group, not those of a list. */
async function refuseOtherGroup(site: Site<'machine'>, { id }: Server, { serverGroupId }: MachineSpec): Promise<void> {
  const { api, names, notes } = site;
  if (notes.group === (serverGroupId ?? null)) return;
  const groups = (await machines.get(api, id))?.server_groups ?? [];
  const wanted = serverGroupId === undefined ? undefined : await names.of(api, 'server_group', serverGroupId);
  if (groups[0] !== wanted)
    throw new Refused('Nova can not put a machine into another placement group, or take it out of one');
}

/** Whether this was asked for since the last change of what is wanted. */
const wasAsked = ({ call, notes }: Site<'machine'>, what: string): boolean => notes[what] === call.generation;

/** What counts is which flavor the machine was given last: an operator may rename it, or map it to another one. */
async function changeFlavor(site: Site<'machine'>, live: Server, spec: MachineSpec): Promise<Step | undefined> {
  const { api, call, notes } = site;
  if (notes.flavor === spec.flavorId) return undefined;
  const flavorRef = flavorIn(site, spec);
  const found = await api.find('compute', `/flavors/${flavorRef}`, Flavor);
  if (!found) throw new Refused('The cloud has no such flavor any more');
  if (live.flavor.original_name === found.flavor.name) return { doing: 'resizing', notes: { flavor: spec.flavorId } };
  // Nova may accept it, find no host, and go back without an error.
  if (wasAsked(site, 'resize')) throw new Refused(`Nova did not resize the machine: ${await reasonOf(api, live)}`);
  await act(api, live, { resize: { flavorRef } });
  return { doing: 'resizing', notes: { resize: call.generation } };
}

/** Returns what was ordered of a machine, the last first. */
const actionsOf = (api: Api, id: string) =>
  api.list('compute', `/servers/${id}/os-instance-actions`, Action, undefined, 'instanceActions');

async function reasonOf(api: Api, { id }: Server): Promise<string> {
  return (await actionsOf(api, id)).find(({ action }) => action === 'resize')?.message ?? 'it found no host for it';
}

async function changeDisks(
  { api, names }: Site<'machine'>,
  live: Server,
  { disks }: MachineSpec,
): Promise<Step | undefined> {
  const path = `/servers/${live.id}/os-volume_attachments`;
  const attached = (await api.list('compute', path, Attachment, undefined, 'volumeAttachments')).map(
    ({ volumeId }) => volumeId,
  );
  const wanted = new Map<string, MachineSpec['disks'][string]>();
  for (const [id, disk] of Object.entries(disks)) wanted.set(await names.of(api, 'volume', id), disk);
  for (const [volumeId, { tag }] of wanted) {
    if (attached.includes(volumeId)) continue;
    const volumeAttachment = { volumeId, delete_on_termination: false, ...(tag !== undefined && { tag }) };
    await api.send('compute', 'POST', path, { volumeAttachment });
    return { doing: 'attaching a volume' };
  }
  const surplus = attached.find((volumeId) => !wanted.has(volumeId));
  if (surplus === undefined) return undefined;
  await api.send('compute', 'DELETE', `${path}/${surplus}`, undefined);
  return { doing: 'detaching a volume' };
}

async function changePorts(
  { api, names }: Site<'machine'>,
  live: Server,
  { ports }: MachineSpec,
): Promise<Step | undefined> {
  const path = `/servers/${live.id}/os-interface`;
  const attached = (await api.list('network', '/ports', Port, { device_id: live.id, fields: 'id' })).map(
    ({ id }) => id,
  );
  const inOrder = Object.entries(ports).toSorted(([, one], [, other]) => one.position - other.position);
  const wanted: string[] = [];
  for (const [id] of inOrder) wanted.push(await names.of(api, 'port', id));
  const missing = wanted.find((id) => !attached.includes(id));
  if (missing !== undefined) {
    await api.send('compute', 'POST', path, { interfaceAttachment: { port_id: missing } });
    return { doing: 'attaching a port' };
  }
  const surplus = attached.find((id) => !wanted.includes(id));
  if (surplus === undefined) return undefined;
  await api.send('compute', 'DELETE', `${path}/${surplus}`, undefined);
  return { doing: 'detaching a port' };
}

/** A machine that Nova removes while Cinder is away leaves its volumes in use. */
async function freeVolumes(api: Api, serverId: string): Promise<void> {
  const found = await api.list('volume', '/attachments', VolumeAttachment, { instance_id: serverId }, 'attachments');
  for (const { id, instance } of found)
    if (instance === serverId) await api.send('volume', 'DELETE', `/attachments/${id}`, undefined).catch(unlessGone);
}
