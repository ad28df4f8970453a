import { expect } from 'vitest';
import { refusal, tags, type Walk } from '../client.ts';

type Tag = ReturnType<typeof tags>[number];

/** Makes the five calls that every kind of resource with tags has, from no tags and back to none. */
export async function walkMetadata({ client }: Walk, resource: string): Promise<void> {
  const own = async () => (await client.list<Tag>(`${resource}/metadata`)).filter(({ read_only }) => !read_only);
  const item = `${resource}/metadata_item`;
  await client.silent('PUT', `${resource}/metadata`, { env: 'walk', tier: 'one' });
  await client.silent('POST', `${resource}/metadata`, { tier: 'two words' });
  expect(await own()).toEqual(tags({ env: 'walk', tier: 'two words' }));
  expect(await client.get(item, { key: 'tier' })).toEqual({
    key: 'tier',
    value: 'two words',
    read_only: false,
  });
  await client.silent('DELETE', item, undefined, { key: 'tier' });
  await expect(client.get(item, { key: 'tier' })).rejects.toMatchObject(refusal(404));
  await client.silent('PUT', `${resource}/metadata`, {});
  expect(await own()).toEqual([]);
}
