import { type Static, Type } from 'typebox';
import { type Call, Refused } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { idIn, markOf, type Resource, type Site } from '../resource.ts';

/** Glance shows further properties among the fields. */
const Image = Type.Object(
  {
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    status: Type.String(),
    size: Type.Union([Type.Integer(), Type.Null()]),
    tags: Type.Array(Type.String()),
    created_at: Type.String(),
    os_glance_failed_import: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);
type Image = Static<typeof Image>;
const NOT_FETCHED =
  'Glance could not get the image: its address does not answer with one, or the cloud does not allow to fetch it';
const FAILED = new Set(['killed', 'deactivated']);
const Upload = Type.Object({ 'os-volume_upload_image': Type.Object({ image_id: Type.String() }) });

export const images: Resource<'image', Image> = {
  paceMs: 500,
  /** Cinder, which makes images of volumes, can give them only a name. */
  async marked({ api, ref }) {
    const [mark, owner] = [markOf(ref), await api.projectId()];
    const [tagged, named] = await Promise.all([
      api.list('image', '/images', Image, { tag: mark, owner }),
      api.list('image', '/images', Image, { name: mark, owner }),
    ]);
    const all = new Map([...tagged, ...named].map((image) => [image.id, image]));
    return [...all.values()].toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  },
  get: (api, id) => api.find('image', `/images/${id}`, Image),
  async create(site, spec) {
    return spec.volumeId === undefined ? download(site, spec) : saveVolume(site, spec.volumeId);
  },
  async change({ api, call, notes, ref }, live, spec) {
    if (live.os_glance_failed_import || FAILED.has(live.status)) throw new Refused(NOT_FETCHED);
    if (live.status === 'queued' && notes.fetching) await refuseFailed(api, live);
    else if (live.status === 'queued' && spec.sourceUrl !== undefined) {
      await fetchInto(api, live, await addressOf(call), spec.sourceUrl);
      return { doing: 'downloading', notes: { fetching: true } };
    }
    if (live.status !== 'active') return { doing: live.status };
    const wanted = { name: spec.name, tags: [markOf(ref)], ...propertiesOf(spec) };
    const changes = Object.entries(wanted).filter(
      ([name, value]) => String(live[name as keyof Image]) !== String(value),
    );
    if (changes.length === 0) return undefined;
    const patch = changes.map(([name, value]) => ({ op: name in live ? 'replace' : 'add', path: `/${name}`, value }));
    await api.send('image', 'PATCH', `/images/${live.id}`, patch);
    return { doing: 'naming' };
  },
  async remove({ api }, { id, status }) {
    if (status === 'pending_delete' || status === 'deleted') return;
    await api.send('image', 'DELETE', `/images/${id}`, undefined);
  },
  observed: ({ status, size }) => {
    if (status === 'deleted' || status === 'pending_delete') return null;
    return size === null ? {} : { sizeBytes: size };
  },
  seen: ({ status, name }) => [status, name],
  all: async (api) => api.list('image', '/images', Image, { owner: await api.projectId() }),
  /** A name counts only before there is a tag: later it is the client's. */
  idOf: ({ name, tags }) => {
    const marked = tags.map((tag) => idIn(tag, 'image')).find((id) => id !== undefined);
    return marked ?? idIn(name, 'image');
  },
};

const propertiesOf = ({ osType, architecture, properties }: Specs['image']): Record<string, string> => ({
  os_type: osType,
  architecture,
  ...properties,
});

async function saveVolume({ api, names, ref }: Site<'image'>, volumeId: string): Promise<Image> {
  const volume = await names.of(api, 'volume', volumeId);
  const wanted = {
    image_name: markOf(ref),
    disk_format: 'qcow2',
    container_format: 'bare',
    visibility: 'private',
    force: true,
  };
  const answer = await api.send(
    'volume',
    'POST',
    `/volumes/${volume}/action`,
    { 'os-volume_upload_image': wanted },
    Upload,
  );
  return api.get('image', `/images/${answer['os-volume_upload_image'].image_id}`, Image);
}

/** Glance leaves an image as it was when it can't fetch it. */
async function refuseFailed(api: Api, { id }: Image): Promise<void> {
  const tasks = await api.list('image', `/images/${id}/tasks`, Type.Object({ status: Type.String() }));
  if (tasks.some(({ status }) => status === 'failure')) throw new Refused(NOT_FETCHED);
}

/** Begins an image that Glance fetches itself, within the limits that its operator has set for addresses. */
async function download({ api, call, ref }: Site<'image'>, spec: Specs['image']): Promise<Image> {
  const disk_format = formatOf(await addressOf(call));
  const image = { name: spec.name, disk_format, container_format: 'bare', tags: [markOf(ref)], ...propertiesOf(spec) };
  return api.send('image', 'POST', '/images', image, Image);
}

async function addressOf(call: Call): Promise<string> {
  const address = await call.secret('url');
  if (address === undefined) throw new Refused('The address of the image is missing');
  return address;
}

async function fetchInto(api: Api, { id }: Image, uri: string, shown: string): Promise<void> {
  const method = { name: 'web-download', uri };
  await api.send('image', 'POST', `/images/${id}/import`, { method }).catch((error: unknown) => {
    // Glance repeats the address, which may have a secret in it.
    if (error instanceof Refused && error.message.includes(uri))
      throw new Refused(error.message.replaceAll(uri, shown));
    throw error;
  });
}

const FORMATS = ['iso', 'raw', 'vdi', 'vhd', 'vhdx', 'vmdk'];
/** Files of most distributions are in the format of QEMU, whatever their name. */
const formatOf = (uri: string): string => {
  const ending = new URL(uri).pathname.split('.').at(-1)?.toLowerCase() ?? '';
  return FORMATS.includes(ending) ? ending : 'qcow2';
};
