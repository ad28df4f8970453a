import { type Static, Type } from 'typebox';
import { MARK, type Resource } from '../resource.ts';
import { busyWith, removeFromCinder, withMark } from './cinder.ts';

const Snapshot = Type.Object({
  id: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  status: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  created_at: Type.String(),
});
type Snapshot = Static<typeof Snapshot>;
const One = Type.Object({ snapshot: Snapshot });

export const snapshots: Resource<'snapshot', Snapshot> = {
  paceMs: 500,
  async marked({ api, ref }) {
    const found = await api.list('volume', '/snapshots/detail', Snapshot, withMark(MARK, ref.id), 'snapshots');
    return found.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  },
  get: async (api, id) => (await api.find('volume', `/snapshots/${id}`, One))?.snapshot,
  async create({ api, names, ref }, { name, volumeId }) {
    const volume_id = await names.of(api, 'volume', volumeId);
    // Forced, since a volume that a machine has can be snapshot, too.
    const snapshot = { name, volume_id, force: true, metadata: { [MARK]: ref.id } };
    return (await api.send('volume', 'POST', '/snapshots', { snapshot }, One)).snapshot;
  },
  async change({ api }, live, { name }) {
    const busy = await busyWith(api, live);
    if (busy || live.name === name) return busy;
    await api.send('volume', 'PUT', `/snapshots/${live.id}`, { snapshot: { name } });
    return { doing: 'renaming' };
  },
  remove: (site, live) => removeFromCinder(site, 'snapshot', live),
  observed: ({ status }) => (status === 'deleting' ? null : {}),
  seen: ({ name, status }) => [name, status.startsWith('error')],
  all: (api) => api.list('volume', '/snapshots/detail', Snapshot, undefined, 'snapshots'),
  idOf: ({ metadata }) => metadata[MARK],
};
