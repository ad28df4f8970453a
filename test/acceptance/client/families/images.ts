import { describe, expect, it } from 'vitest';
import type { Resource } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { walkMetadata } from './metadata.ts';

export function describeImages(walk: Walk): void {
  const { client, impatient, place } = walk;
  const IMAGES = place('/cloud/v1/images');
  const VOLUMES = place('/cloud/v1/volumes');

  describe('images', () => {
    let image: Resource;
    const one = () => `${IMAGES}/${image.id}`;

    it('lists those of the platform, with filters and prices', async () => {
      const ubuntu = await client.all<Resource>(IMAGES, {
        os_distro: 'ubuntu',
        visibility: 'public',
        include_prices: true,
      });
      expect(ubuntu.length).toBeGreaterThan(0);
      expect(await client.get(`${IMAGES}/${ubuntu[0]?.id}`, { include_prices: true })).toEqual(ubuntu[0]);
    });

    it('makes one of a volume', async () => {
      const [platform] = await client.all<Resource>(IMAGES, { os_distro: 'ubuntu' });
      const disk = { source: 'image', name: 'walk boot', size: 20, image_id: platform?.id };
      const volume = await client.createAndPoll<Resource>(VOLUMES, disk, { of: 'volumes' });
      const body = { name: 'walk image', volume_id: volume.id, ssh_key: 'required', tags: { env: 'walk' } };
      image = await client.createAndPoll<Resource>(IMAGES, body, { of: 'images' });
      expect(image).toMatchObject({
        name: 'walk image',
        visibility: 'private',
        tags_v2: tags({ env: 'walk' }),
      });
      await client.deleteAndPoll(`${VOLUMES}/${volume.id}`);
    });

    it('finds it, changes it and makes a volume of it', async () => {
      expect(await client.all(IMAGES, { private: 'true', tag_key: ['env'], limit: 1 })).toEqual([image]);
      const changed = await client.patch(one(), { name: 'walk image one', tags: { env: null } });
      expect(changed).toMatchObject({ name: 'walk image one', ssh_key: 'required', tags_v2: [] });
      await walkMetadata(walk, one());
      const disk = { source: 'image', name: 'walk booted', size: 20, image_id: image.id };
      const volume = await client.createAndPoll<Resource>(VOLUMES, disk, { of: 'volumes' });
      expect(volume).toMatchObject({ bootable: true });
      await client.deleteAndPoll(`${VOLUMES}/${volume.id}`);
    });

    it('deletes it', async () => {
      await client.deleteAndPoll(one());
      await expect(impatient.get(one())).rejects.toMatchObject(refusal(404));
    });
  });
}
