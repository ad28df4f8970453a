import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPossessions } from '../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

/** What the library under the older Terraform provider sends and reads of tags, which it calls metadata. */

let service: TestService;
let volumeId: string;
let networkId: string;
let instanceId: string;
beforeAll(async () => {
  service = await borrowService();
  const { make, values } = createPossessions(service.http);
  await make('volume_id', 'network_id', 'instance_id');
  volumeId = String(values.volume_id);
  networkId = String(values.network_id);
  instanceId = String(values.instance_id);
});
afterAll(() => service.stop());

const TAGS = { env: 'old client', 'a/b': 'c' };
const LIST = Object.entries(TAGS).map(([key, value]) => ({ key, value, read_only: false }));
/** Sorts tags for a comparison: the database decides the order in answers. */
const inOrder = (list: { key: string }[]) => list.toSorted((a, b) => (a.key < b.key ? 1 : -1));

interface Family {
  path: string;
  /** The field with the tags in answers. */
  tags: string;
  /** What else the library reads. */
  reads: 'list' | 'map' | 'both';
  body: () => object;
  created: string;
  /** The object in the body that contains the tags. */
  below?: string;
}

const FAMILIES: Record<string, Family> = {
  network: {
    path: '/cloud/v1/networks/1/1',
    tags: 'tags',
    reads: 'list',
    body: () => ({ name: 'of an old client', create_router: true }),
    created: 'networks',
  },
  subnet: {
    path: '/cloud/v1/subnets/1/1',
    tags: 'tags',
    reads: 'list',
    body: () => ({ name: 'of an old client', network_id: networkId, cidr: '10.77.0.0/24' }),
    created: 'subnets',
  },
  'security group': {
    path: '/cloud/v1/securitygroups/1/1',
    tags: 'tags_v2',
    reads: 'list',
    body: () => ({ security_group: { name: 'of an old client', security_group_rules: [] } }),
    created: '',
    below: 'security_group',
  },
  volume: {
    path: '/cloud/v1/volumes/1/1',
    tags: 'tags',
    reads: 'both',
    body: () => ({ source: 'new-volume', name: 'of an old client', size: 1, type_name: 'standard' }),
    created: 'volumes',
  },
  snapshot: {
    path: '/cloud/v1/snapshots/1/1',
    tags: 'tags',
    reads: 'map',
    body: () => ({ name: 'of an old client', volume_id: volumeId }),
    created: 'snapshots',
  },
  'floating IP': {
    path: '/cloud/v1/floatingips/1/1',
    tags: 'tags',
    reads: 'list',
    body: () => ({}),
    created: 'floatingips',
  },
  image: {
    path: '/cloud/v1/images/1/1',
    tags: 'tags_v2',
    reads: 'both',
    body: () => ({ name: 'of an old client', volume_id: volumeId }),
    created: 'images',
  },
};

const bodyOf = (family: Family, fields: object) => {
  const body = family.body() as Record<string, object>;
  const { below } = family;
  return below === undefined ? { ...body, ...fields } : { ...body, [below]: { ...body[below], ...fields } };
};

async function create(family: Family, fields: object): Promise<string> {
  const answer = await service.http.post(`/gcore${family.path}`, bodyOf(family, fields));
  expect(answer.status, answer.text).toBe(200);
  if (family.created === '') return answer.body.id;
  const task = await service.http.task(answer.body.tasks[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources[family.created][0];
}

describe.each(Object.entries(FAMILIES))('a %s', (_name, family) => {
  let id: string;

  it('takes metadata for tags, and shows them as the library reads them', async () => {
    id = await create(family, { metadata: TAGS });
    const { body } = await service.http.get(`/gcore${family.path}/${id}`);
    expect(inOrder(body[family.tags])).toEqual(LIST);
    if (family.reads === 'list') expect(inOrder(body.metadata)).toEqual(LIST);
    else expect(body.metadata).toEqual(TAGS);
    if (family.reads === 'both') expect(inOrder(body.metadata_detailed)).toEqual(LIST);
    const listed = await service.http.get(`/gcore${family.path}?limit=1000`);
    const found = listed.body.results.find((one: { id: string }) => one.id === id);
    expect(found.metadata).toEqual(body.metadata);
  });

  it.skipIf(family.path.includes('snapshots'))('replaces them as that library does, down to none', async () => {
    const url = `/gcore${family.path}/${id}/metadata`;
    expect((await service.http.put(url, {})).status).toBe(204);
    const bare = (await service.http.get(`/gcore${family.path}/${id}`)).body;
    expect(bare.metadata).toEqual(family.reads === 'list' ? [] : {});
    expect((await service.http.put(url, TAGS)).status).toBe(204);
    const listed = (await service.http.get(url)).body;
    expect(inOrder(listed.results)).toEqual(LIST);
  });

  it.skipIf(family.path.includes('snapshots'))('is found by metadata in every form that clients write', async () => {
    const found = async (query: Record<string, string>) => {
      const text = new URLSearchParams({ ...query, limit: '1000' }).toString();
      const answer = await service.http.get(`/gcore${family.path}?${text}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.results.some((one: { id: string }) => one.id === id);
    };
    for (const query of [
      { metadata_k: 'env' },
      { metadata_k: '["env", "a/b"]' },
      { metadata_kv: '{"env":"old client"}' },
      { metadata_kv: '{"env":"old client", "a/b":"c"}' },
      { metadata_kv: "{'env':'old client', 'a/b':'c'}" },
      { metadata_kv: '{}' },
      {
        metadata_k: 'env',
        tag_key: 'a/b',
        tag_key_value: '{"env":"old client"}',
        metadata_kv: '{"a/b":"c"}',
      },
    ]) {
      expect(await found(query), JSON.stringify(query)).toBe(true);
    }
    for (const query of [
      { metadata_k: 'nothing' },
      { metadata_k: '["env", "nothing"]' },
      { metadata_kv: '{"env":"c"}' },
      { metadata_kv: "{'env':'old client', 'a/b':'d'}" },
    ]) {
      expect(await found(query), JSON.stringify(query)).toBe(false);
    }
    for (const metadata_kv of ['[]', '{"env":1}', "{'env'}", "{'env':'a':'b'}", "{'}"]) {
      const refused = await service.http.get(`/gcore${family.path}?${new URLSearchParams({ metadata_kv }).toString()}`);
      expect([refused.status, refused.text], metadata_kv).toEqual([400, expect.stringContaining('metadata_kv')]);
    }
    const contrary = { tag_key_value: '{"env":"a"}', metadata_kv: '{"env":"b"}' };
    const answer = await service.http.get(`/gcore${family.path}?${new URLSearchParams(contrary).toString()}`);
    expect([answer.status, answer.body.invalid_fields?.metadata_kv?.[0]]).toEqual([
      400,
      expect.stringContaining('"env"'),
    ]);
  });

  it('refuses metadata that say another thing than tags, and faulty ones by their name', async () => {
    const parent = family.below === undefined ? '' : `${family.below}.`;
    for (const [fields, field] of [
      [{ metadata: { env: 'a' }, tags: { env: 'b' } }, 'metadata'],
      [{ metadata: {}, tags: { env: 'b' } }, 'metadata'],
      [{ metadata: { 'a b': 'c' } }, 'metadata.a b'],
      [{ metadata: { env: '' } }, 'metadata.env'],
      [{ metadata: { env: 1 } }, 'metadata.env'],
    ] as const) {
      const refused = await service.http.post(`/gcore${family.path}`, bodyOf(family, fields));
      expect(refused.status, refused.text).toBe(400);
      expect(Object.keys(refused.body.invalid_fields)).toEqual([`${parent}${field}`]);
    }
  });

  it('does none of that where the specification is spoken', async () => {
    const refused = await service.http.post(family.path, bodyOf(family, { metadata: TAGS }));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('metadata')]);
    const { body } = await service.http.get(`${family.path}/${id}`);
    expect(body).toHaveProperty(family.tags);
    expect(Object.keys(body).filter((key) => key.startsWith('metadata'))).toEqual([]);
    for (const query of ['metadata_k=env', 'metadata_kv=%7B%7D']) {
      expect((await service.http.get(`${family.path}?${query}`)).status).toBe(400);
    }
  });
});

describe('an instance', () => {
  const I = '/cloud/v1/instances/1/1';

  it('has its older names as well', async () => {
    await service.http.put(`/gcore${I}/${instanceId}/metadata`, TAGS);
    const { body } = await service.http.get(`/gcore${I}/${instanceId}`);
    const [listed] = (await service.http.get(`/gcore${I}?uuid=${instanceId}`)).body.results;
    for (const shown of [body, listed]) {
      expect(shown).toMatchObject({
        instance_id: instanceId,
        instance_name: shown.name,
        instance_created: shown.created_at,
        keypair_name: shown.ssh_key_name,
        metadata: TAGS,
      });
      expect(inOrder(shown.metadata_detailed)).toEqual(LIST);
    }
    const plain = (await service.http.get(`${I}/${instanceId}`)).body;
    for (const name of ['instance_id', 'instance_name', 'instance_created', 'keypair_name', 'metadata']) {
      expect(plain).not.toHaveProperty(name);
    }
  });

  it('is found by metadata', async () => {
    const count = async (query: Record<string, string>) => {
      const answer = await service.http.get(`/gcore${I}?${new URLSearchParams(query).toString()}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.count;
    };
    expect(await count({ metadata_kv: '{"env":"old client"}' })).toBe(1);
    expect(await count({ metadata_kv: "{'env':'other'}" })).toBe(0);
    expect(await count({ metadata_k: 'a/b' })).toBe(1);
    expect(await count({ metadata_k: 'nothing' })).toBe(0);
    expect(await count({ metadata_v: '["c"]' })).toBe(1);
    expect(await count({ metadata_v: '["c"]', tag_value: 'd' })).toBe(0);
    expect((await service.http.get(`/gcore${I}?metadata_v=c`)).body.invalid_fields).toHaveProperty('metadata_v');
    expect((await service.http.get(`${I}?metadata_kv=%7B%7D`)).status).toBe(400);
  });

  it('has them as well where a floating IP says what it leads to', async () => {
    const [port] = (await service.http.get(`${I}/${instanceId}/ports`)).body.results;
    const made = await service.http.post('/cloud/v1/floatingips/1/1', { port_id: port.id });
    await service.http.task(made.body[0]);
    const url = `/cloud/v1/floatingips/1/1?port_ids=${port.id}`;
    const [older] = (await service.http.get(`/gcore${url}`)).body.results;
    expect(older.instance).toMatchObject({
      instance_id: instanceId,
      instance_created: expect.stringMatching(/Z$/),
      metadata: TAGS,
    });
    const [plain] = (await service.http.get(url)).body.results;
    expect(plain.instance).toMatchObject({ id: instanceId });
    expect(plain.instance).not.toHaveProperty('instance_id');
  });
});
