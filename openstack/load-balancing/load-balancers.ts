import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { MemberHealth } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { Unclear } from '../cloud/errors.ts';
import { idIn, markOf, type Resource, type Site } from '../resource.ts';
import { changeTree } from './tree.ts';

const Balancer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  admin_state_up: Type.Boolean(),
  provisioning_status: Type.String(),
  operating_status: Type.String(),
  tags: Type.Array(Type.String()),
  created_at: Type.String(),
  updated_at: Type.Union([Type.String(), Type.Null()]),
});
const One = Type.Object({ loadbalancer: Balancer });
type Balancer = Static<typeof Balancer> & {
  /** Of each member by our ID, in Octavia's words. */
  members: Record<string, string>;
};

const Members = Type.Object({
  members: Type.Array(Type.Object({ name: Type.String(), operating_status: Type.String() })),
});
const Statuses = Type.Object({
  statuses: Type.Object({
    loadbalancer: Type.Object({
      listeners: Type.Optional(Type.Array(Type.Object({ pools: Type.Array(Members) }))),
    }),
  }),
});

const PATH = '/loadbalancers';
/** Operating states in which no member has failed. */
const WITHOUT_FAILURE = new Set(['NO_MONITOR', 'OFFLINE', 'ONLINE']);

export const loadBalancers: Resource<'load_balancer', Balancer> = {
  paceMs: 500,
  async marked({ api, ref }) {
    const filter = { tags: markOf(ref), project_id: await api.projectId() };
    const found = await api.list('load-balancer', PATH, Balancer, filter);
    const oldestFirst = found.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
    return Promise.all(oldestFirst.map((one) => withMembers(api, one)));
  },
  async get(api, id) {
    const found = await api.find('load-balancer', `${PATH}/${id}`, One);
    return found && withMembers(api, found.loadbalancer);
  },
  async create({ api, names, ref }, { name, enabled, flavorId, portId, failovers }) {
    // A flavor that isn't mapped is left to the cloud.
    const flavor_id = names.mappings.loadBalancerFlavors[flavorId];
    const loadbalancer = {
      name,
      admin_state_up: enabled,
      ...(await vipOf(api, await names.of(api, 'port', portId))),
      ...(flavor_id !== undefined && { flavor_id }),
      tags: [markOf(ref)],
    };
    const made = await api.send('load-balancer', 'POST', PATH, { loadbalancer }, One);
    return { ...made.loadbalancer, members: {}, notes: { flavor: flavorId, failovers } };
  },
  async change(site, live, spec) {
    const { api, call, names, notes } = site;
    const { loadBalancerFlavors: flavors } = names.mappings;
    const { provisioning_status: status } = live;
    if (status.startsWith('PENDING_')) return { doing: status };
    const { failing, failovers, flavor } = notes;
    // Octavia tells neither of them.
    if (failovers === undefined)
      return { doing: 'noting', notes: { flavor: spec.flavorId, failovers: spec.failovers } };
    // One without an answer has begun only if something has changed.
    if (failovers !== spec.failovers || (failing !== undefined && failing === live.updated_at)) {
      await failOver(site, live, spec.failovers);
      return { doing: 'failing over', notes: { failovers: spec.failovers } };
    }
    if (status !== 'ACTIVE')
      throw new Refused(
        call.wasThere
          ? `The load balancer is in Octavia's state ${status}: a failover may bring it back`
          : `Octavia could not make the load balancer, and does not say why: it ended in the state ${status}`,
      );
    if (typeof flavor === 'string' && flavors[flavor] !== flavors[spec.flavorId])
      throw new Refused('Octavia gives a load balancer no other flavor once it is there');
    if (live.name !== spec.name || live.admin_state_up !== spec.enabled) {
      const loadbalancer = { name: spec.name, admin_state_up: spec.enabled };
      await api.send('load-balancer', 'PUT', `${PATH}/${live.id}`, { loadbalancer });
      return { doing: 'changing' };
    }
    return changeTree(site, live, spec);
  },
  async remove({ api }, { id, provisioning_status: status }) {
    if (status === 'PENDING_DELETE') return;
    await api.send('load-balancer', 'DELETE', `${PATH}/${id}?cascade=true`, undefined);
  },
  observed: ({ provisioning_status: status, members }) =>
    status === 'PENDING_DELETE' || status === 'DELETED' ? null : { members: healthOf(members) },
  /** A change of any part moves the time. */
  seen: ({ provisioning_status, operating_status, updated_at, members }) => [
    provisioning_status === 'ERROR',
    operating_status,
    updated_at,
    WITHOUT_FAILURE.has(operating_status) ? {} : members,
  ],
  async all(api) {
    const all = await api.list('load-balancer', PATH, Balancer, { project_id: await api.projectId() });
    return Promise.all(
      all.map(async (one) =>
        WITHOUT_FAILURE.has(one.operating_status) ? { ...one, members: {} } : withMembers(api, one),
      ),
    );
  },
  idOf: ({ tags }) => tags.map((tag) => idIn(tag, 'load_balancer')).find((id) => id !== undefined),
};

/** Orders a failover, and notes that first. */
async function failOver(
  { api, notes, remember }: Site<'load_balancer'>,
  { id, updated_at }: Balancer,
  failovers: number,
): Promise<void> {
  await remember({ ...notes, failovers, failing: updated_at });
  try {
    await api.send('load-balancer', 'PUT', `${PATH}/${id}/failover`, undefined);
  } catch (error) {
    if (!(error instanceof Unclear)) await remember(notes);
    throw error;
  }
}

const Port = Type.Object({
  port: Type.Object({ fixed_ips: Type.Array(Type.Object({ ip_address: Type.String(), subnet_id: Type.String() })) }),
});

/** Names the first address of a port with several, the IPv4 one: Octavia doesn't choose. Train's takes only one. */
async function vipOf(api: Api, vip_port_id: string) {
  const { fixed_ips } = (await api.get('network', `/ports/${vip_port_id}`, Port)).port;
  const [first, ...others] = fixed_ips.toSorted(
    (one, other) => Number(one.ip_address.includes(':')) - Number(other.ip_address.includes(':')),
  );
  if (!first || others.length === 0) return { vip_port_id };
  return { vip_port_id, vip_subnet_id: first.subnet_id, additional_vips: others };
}

/** Adds how the members are, by their names, which are our IDs. While the load balancer changes, nobody needs that. */
async function withMembers(api: Api, balancer: Static<typeof Balancer>): Promise<Balancer> {
  if (balancer.provisioning_status.startsWith('PENDING_')) return { ...balancer, members: {} };
  const found = await api.find('load-balancer', `${PATH}/${balancer.id}/status`, Statuses);
  const listeners = found?.statuses.loadbalancer.listeners ?? [];
  const members = listeners.flatMap(({ pools }) => pools.flatMap((pool) => pool.members));
  const statuses = members.map((one) => [one.name, one.operating_status] as const);
  return { ...balancer, members: Object.fromEntries(statuses.toSorted(([one], [other]) => one.localeCompare(other))) };
}

const HEALTH = ['DRAINING', 'ERROR', 'ONLINE'] as const satisfies MemberHealth[];

/** Leaves out members without health checks. */
function healthOf(members: Balancer['members']): Record<string, MemberHealth> {
  const checked = Object.entries(members).flatMap(([id, status]) => {
    const health = HEALTH.find((one) => one === status);
    return health ? [[id, health] as const] : [];
  });
  return Object.fromEntries(checked);
}
