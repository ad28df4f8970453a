import { type Static, Type } from 'typebox';
import { Refused, Unavailable } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { CloudError } from '../cloud/errors.ts';
import { MARK, type Resource, type Site } from '../resource.ts';
import { busyWith, removeFromCinder, withMark } from './cinder.ts';

const Volume = Type.Object({
  id: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  status: Type.String(),
  size: Type.Integer(),
  volume_type: Type.Union([Type.String(), Type.Null()]),
  metadata: Type.Record(Type.String(), Type.String()),
  attachments: Type.Array(Type.Object({ server_id: Type.String() })),
  created_at: Type.String(),
});
type Volume = Static<typeof Volume>;
const One = Type.Object({ volume: Volume });

/** How often a volume was reverted to a snapshot, which nothing else in it shows. */
const REVERTS = 'tradewind_reverts';

export const volumes: Resource<'volume', Volume> = {
  paceMs: 500,
  async marked({ api, ref }) {
    const found = await api.list('volume', '/volumes/detail', Volume, withMark(MARK, ref.id), 'volumes');
    return found.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  },
  get: async (api, id) => (await api.find('volume', `/volumes/${id}`, One))?.volume,
  async create({ api, names, ref }, spec) {
    const { name, sizeGib: size, source, reverts } = spec;
    const metadata = { [MARK]: ref.id, ...(reverts && { [REVERTS]: String(reverts.times) }) };
    const imageRef = source && 'imageId' in source ? await names.of(api, 'image', source.imageId) : undefined;
    const from = source &&
      'snapshotId' in source && { snapshot_id: await names.of(api, 'snapshot', source.snapshotId) };
    const volume = { name, size, volume_type: typeOf(names.mappings, spec), metadata, imageRef, ...from };
    const order = api.send('volume', 'POST', '/volumes', { volume }, One);
    const made = (await order.catch((error) => throwForImage(api, imageRef, error))).volume;
    return { ...made, notes: { type: spec.volumeType } };
  },
  async change(site, live, spec) {
    const { api, names } = site;
    const act = (body: object) => api.send('volume', 'POST', `/volumes/${live.id}/action`, body);
    if (live.status === 'error_extending' && live.size >= spec.sizeGib) {
      // What it holds is as before: the larger size is no longer wanted. Only administrators may say so.
      await act({ 'os-reset_status': { status: live.attachments.length > 0 ? 'in-use' : 'available' } });
      return { doing: 'recovering' };
    }
    const busy = await busyWith(api, live);
    if (busy) return busy;
    if (live.name !== spec.name) {
      await api.send('volume', 'PUT', `/volumes/${live.id}`, { volume: { name: spec.name } });
      return { doing: 'renaming' };
    }
    // What counts is which type the volume was given last: an operator may rename it, or map it to another one.
    if (site.notes.type !== spec.volumeType) {
      const [now, type] = [live.volume_type ?? '', typeOf(names.mappings, spec)];
      if (now === type) return { doing: 'retyping', notes: { type: spec.volumeType } };
      await onlyOnce(site, 'retype', now, () =>
        act({ 'os-retype': { new_type: type, migration_policy: 'on-demand' } }),
      );
      return { doing: 'retyping', notes: { retype: asked(site, now) } };
    }
    // No volume shrinks: what was made larger by a change that failed later stays so.
    if (live.size < spec.sizeGib) {
      await onlyOnce(site, 'extend', String(live.size), () => act({ 'os-extend': { new_size: spec.sizeGib } }));
      return { doing: 'extending', notes: { extend: asked(site, String(live.size)) } };
    }
    return revert(api, names, live, spec, act);
  },
  remove: (site, live) => removeFromCinder(site, 'volume', live),
  observed: ({ status }) => (status === 'deleting' ? null : {}),
  seen: ({ name, status, size, volume_type: type }) => [name, size, type, status.startsWith('error')],
  all: (api) => api.list('volume', '/volumes/detail', Volume, undefined, 'volumes'),
  idOf: ({ metadata }) => metadata[MARK],
};

const Image = Type.Object({ status: Type.String() });

/** Cinder has the same words for an image that isn't there and for a Glance that doesn't answer: the second passes. */
async function throwForImage(api: Api, imageRef: string | undefined, error: unknown): Promise<never> {
  if (!imageRef || !(error instanceof CloudError) || !error.message.includes('unable to access')) throw error;
  const image = await api.find('image', `/images/${imageRef}`, Image);
  throw image?.status === 'active' ? new Unavailable('Cinder has no answer from Glance', { cause: error }) : error;
}

const typeOf = ({ volumeTypes }: Site['names']['mappings'], { volumeType }: Specs['volume']): string =>
  volumeTypes[volumeType] ?? volumeType;

const asked = ({ call }: Site, from: string): string => `${call.generation} ${from}`;

/** Cinder accepts some changes and then leaves the volume as it is: a second try would end no better. */
async function onlyOnce(
  site: Site,
  what: 'extend' | 'retype',
  from: string,
  act: () => Promise<unknown>,
): Promise<void> {
  if (site.notes[what] === asked(site, from))
    throw new Refused(`Cinder accepted to ${what} the volume, and left it as it was`);
  await act();
}

/** Only the latest snapshot, and only of a volume that no machine has. */
async function revert(
  api: Api,
  names: Site['names'],
  live: Volume,
  { reverts }: Specs['volume'],
  act: (body: object) => Promise<unknown>,
) {
  const done = Number(live.metadata[REVERTS] ?? 0);
  if (reverts === undefined || reverts.times === done) return undefined;
  if (reverts.times > done) await act({ revert: { snapshot_id: await names.of(api, 'snapshot', reverts.snapshotId) } });
  await api.send('volume', 'POST', `/volumes/${live.id}/metadata`, { metadata: { [REVERTS]: String(reverts.times) } });
  return { doing: 'reverting' };
}
