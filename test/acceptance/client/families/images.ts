import { expect, it } from 'vitest';
import { type Resource, tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

export function describeImages(walk: Walk): void {
  const { client, place } = walk;

  it.skipIf(walk.lacks?.includes('downloads'))('images: from an address', async () => {
    const body = { name: 'walk afar', url: 'https://images.example.com/walk.qcow2', cow_format: false };
    const DOWNLOAD = place('/cloud/v1/downloadimage');
    const image = await client.createAndPoll(DOWNLOAD, body, 'images', place('/cloud/v1/images'));
    expect(image).toMatchObject({ name: 'walk afar', visibility: 'private' });
  });

  it('images: those of the project', async () => {
    const own = await client.list<Resource>(place('/cloud/v1/projectimages'), { include_prices: true });
    const all = await client.list<Resource>(place('/cloud/v1/images'), { private: 'yes' });
    expect(own.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it('images: tags', async () => {
    const IMAGES = place('/cloud/v1/images');
    const [platform] = await client.list<Resource>(IMAGES, { os_distro: 'ubuntu' });
    const disk = { source: 'image', name: 'walk boot', size: 20, image_id: platform?.id };
    const volume = await client.createAndPoll(place('/cloud/v1/volumes'), disk, 'volumes');
    const body = { name: 'walk image', volume_id: volume.id, tags: { env: 'walk' } };
    const image = await client.createAndPoll(IMAGES, body, 'images');
    expect(image).toMatchObject({ name: 'walk image', tags_v2: tags({ env: 'walk' }) });
    await walkMetadata(walk, `${IMAGES}/${image.id}`);
  });
}
