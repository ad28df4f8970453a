import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { LoadBalancerSpec, MemberHealth } from '../../src/backends/contract/specs.ts';
import type { FieldProblem } from '../../src/lib/errors.ts';
import type { Api } from '../cloud/client.ts';
import { idIn, markOf, type Resource } from '../resource.ts';
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
/** What Octavia calls a load balancer without a member that has failed. */
const SOUND = new Set(['NO_MONITOR', 'OFFLINE', 'ONLINE']);

export const loadBalancers: Resource<'load_balancer', Balancer> = {
  paceMs: 500,
  async marked({ api, ref }) {
    const mark = markOf(ref);
    const found = await api.list('load-balancer', PATH, Balancer, { tags: mark, project_id: await api.projectId() });
    const own = found.filter(({ tags }) => tags.includes(mark));
    const oldestFirst = own.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
    return Promise.all(oldestFirst.map((one) => withMembers(api, one)));
  },
  async get(api, id) {
    const found = await api.find('load-balancer', `${PATH}/${id}`, One);
    return found && withMembers(api, found.loadbalancer);
  },
  async create({ api, names, ref }, { name, enabled, flavorId, portId, failovers }) {
    // Others are made as the cloud makes them by default.
    const flavor_id = names.mappings.loadBalancerFlavors[flavorId];
    const loadbalancer = {
      name,
      admin_state_up: enabled,
      vip_port_id: await names.of(api, 'port', portId),
      ...(flavor_id !== undefined && { flavor_id }),
      tags: [markOf(ref)],
    };
    const made = await api.send('load-balancer', 'POST', PATH, { loadbalancer }, One);
    return { ...made.loadbalancer, members: {}, notes: { flavor: flavorId, failovers } };
  },
  async change(site, live, spec) {
    const { api, names, notes } = site;
    const { loadBalancerFlavors: flavors } = names.mappings;
    const path = `${PATH}/${live.id}`;
    const { provisioning_status: status } = live;
    if (status.startsWith('PENDING_')) return { doing: status };
    const { failovers, flavor } = notes;
    // Nothing else tells them.
    if (failovers === undefined)
      return { doing: 'noting', notes: { flavor: spec.flavorId, failovers: spec.failovers } };
    if (failovers !== spec.failovers) {
      await api.send('load-balancer', 'PUT', `${path}/failover`, undefined);
      return { doing: 'failing over', notes: { failovers: spec.failovers } };
    }
    if (status !== 'ACTIVE')
      throw new Refused(`Octavia ended in the state ${status}: a failover may bring the load balancer back`);
    if (typeof flavor === 'string' && flavors[flavor] !== flavors[spec.flavorId])
      throw new Refused('Octavia gives a load balancer no other flavor once it is there');
    if (live.name !== spec.name || live.admin_state_up !== spec.enabled) {
      const loadbalancer = { name: spec.name, admin_state_up: spec.enabled };
      await api.send('load-balancer', 'PUT', path, { loadbalancer });
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
    SOUND.has(operating_status) ? {} : members,
  ],
  async all(api) {
    const all = await api.list('load-balancer', PATH, Balancer, { project_id: await api.projectId() });
    return Promise.all(
      all.map(async (one) => (SOUND.has(one.operating_status) ? { ...one, members: {} } : withMembers(api, one))),
    );
  },
  idOf: ({ tags }) => tags.map((tag) => idIn(tag, 'load_balancer')).find((id) => id !== undefined),
};

/** Members have our IDs as their names. */
async function withMembers(api: Api, balancer: Static<typeof Balancer>): Promise<Balancer> {
  const found = await api.find('load-balancer', `${PATH}/${balancer.id}/status`, Statuses);
  const listeners = found?.statuses.loadbalancer.listeners ?? [];
  const members = listeners.flatMap(({ pools }) => pools.flatMap((pool) => pool.members));
  const statuses = members.map((one) => [one.name, one.operating_status] as const);
  return { ...balancer, members: Object.fromEntries(statuses.toSorted(([one], [other]) => one.localeCompare(other))) };
}

const HEALTH = ['DRAINING', 'ERROR', 'ONLINE'] as const satisfies MemberHealth[];

/** Leaves out members that nobody has asked, or asks. */
function healthOf(members: Balancer['members']): Record<string, MemberHealth> {
  const asked = Object.entries(members).flatMap(([id, status]) => {
    const health = HEALTH.find((one) => one === status);
    return health ? [[id, health] as const] : [];
  });
  return Object.fromEntries(asked);
}

/** Returns what Octavia can't do. */
export function problemsOf({ listeners, pools, logging }: LoadBalancerSpec): FieldProblem[] {
  const all = Object.values(listeners);
  const monitors = Object.values(pools).map(({ monitor }) => monitor?.type);
  return [
    ...(logging ? [problem('logging', 'does not send logs of load balancers')] : []),
    ...(all.some(({ users }) => Object.keys(users).length > 0)
      ? [problem('user_list', 'asks nobody for a password')]
      : []),
    ...(monitors.includes('K8S') ? [problem('type', 'has no health monitors of the type K8S')] : []),
  ];
}

const problem = (field: string, what: string): FieldProblem => ({
  field,
  message: `The cloud of this region ${what}; leave it out.`,
});
