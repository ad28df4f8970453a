import { type Static, Type } from 'typebox';
import { idIn, markOf, type Resource } from '../resource.ts';

const ServerGroup = Type.Object({ id: Type.String(), name: Type.String() });
const One = Type.Object({ server_group: ServerGroup });

/** Nova keeps nothing of a group but its name, which is our mark therefore. */
export const serverGroups: Resource<'server_group', Static<typeof ServerGroup>> = {
  paceMs: 10,
  async marked({ api, ref }) {
    const all = await api.list('compute', '/os-server-groups', ServerGroup, undefined, 'server_groups');
    return all.filter(({ name }) => name === markOf(ref));
  },
  get: async (api, id) => (await api.find('compute', `/os-server-groups/${id}`, One))?.server_group,
  async create({ api, ref }, { policy }) {
    const server_group = { name: markOf(ref), policy };
    return (await api.send('compute', 'POST', '/os-server-groups', { server_group }, One)).server_group;
  },
  change: async () => undefined,
  async remove({ api }, { id }) {
    await api.send('compute', 'DELETE', `/os-server-groups/${id}`, undefined);
  },
  observed: () => ({}),
  seen: () => [],
  all: (api) => api.list('compute', '/os-server-groups', ServerGroup, undefined, 'server_groups'),
  idOf: ({ name }) => idIn(name, 'server_group'),
};
