import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Page, Resource } from '../shapes.ts';
import { refusal, type Walk } from '../walk.ts';

interface Pool extends Resource {
  node_count: number;
}

interface KubeConfig {
  config: string;
  host: string;
  client_certificate: string;
  cluster_ca_certificate: string;
}

const POOL = {
  name: 'web',
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

export function describeClusters({ client, impatient, place }: Walk): void {
  const K = place('/cloud/v2/k8s/clusters');
  const ONE = `${K}/walk`;
  const PRICES = `${place('/cloud/v2/pricing')}/k8s/clusters`;
  const nodesOf = async (at: string) => (await client.get<Page<Resource>>(`${at}/instances`)).results;

  let keyId: string;

  describe('clusters', () => {
    beforeAll(async () => {
      keyId = (await client.post<Resource>('/cloud/v1/ssh_keys/1', { name: 'walk cluster key' })).id;
    });

    it('asks for versions, flavors, quotas and a price first', async () => {
      const offers = place('/cloud/v2/k8s');
      const versions = await client.get<Page<{ version: string }>>(`${offers}/create_versions`);
      expect(versions.results.map(({ version }) => version)).toContain('v1.31.14');
      const flavors = `${place('/cloud/v1/k8s')}/flavors`;
      const offered = await client.get<Page<{ flavor_id: string }>>(flavors, {
        include_prices: true,
        exclude_gpu: true,
      });
      expect(offered.results.map(({ flavor_id }) => flavor_id)).toContain(POOL.flavor_id);
      expect(
        await client.post(`${K}/check_limits`, { pools: [{ flavor_id: POOL.flavor_id }], logging: null }),
      ).toEqual({});
      expect(
        await client.post(`${K}/pools/check_limits`, { flavor_id: POOL.flavor_id, node_count: 3 }),
      ).toEqual({});
      const priced = {
        flavor_id: POOL.flavor_id,
        boot_volume_size: 50,
        boot_volume_type: 'ssd_hiiops',
        node_count: 2,
      };
      expect(await client.post(PRICES, { pools: [priced] })).toMatchObject({
        total_price: { price_status: 'show' },
      });
    });

    it('creates one by exactly one task, and reads it by its name', async () => {
      const body = {
        name: 'walk',
        version: 'v1.31.14',
        keypair: 'walk cluster key',
        pools: [POOL],
        cni: { provider: 'cilium' },
      };
      const made = await client.createAndPoll<Resource>(K, body, {
        of: 'k8s_clusters',
        only: true,
        at: () => ONE,
      });
      expect(made).toMatchObject({ name: 'walk', status: 'Provisioned', task_id: null, version: 'v1.31.14' });
      expect(await client.all(K)).toEqual([made]);
      expect(await client.get(`${PRICES}/walk`)).toMatchObject({ total_price: { price_status: 'show' } });
    });

    it('changes what is given; null groups are as if they were left out, null inside clears', async () => {
      const oidc = {
        issuer_url: 'https://accounts.example.com',
        client_id: 'kubernetes',
        groups_claim: 'groups',
      };
      const logging = {
        enabled: true,
        destination_region_id: 1,
        topic_name: 'walk-logs',
        retention_policy: { period: 45 },
      };
      const autoscaler_config = { 'scan-interval': '20s' };
      await client.patchAndPoll(ONE, { authentication: { oidc }, logging, autoscaler_config });
      expect(await client.get(ONE)).toMatchObject({ authentication: { oidc }, logging, autoscaler_config });

      const groups = ['authentication', 'autoscaler_config', 'cni', 'ddos_profile', 'logging'];
      const nulls = Object.fromEntries(groups.map((group) => [group, null]));
      expect(await client.patchAndPoll(ONE, nulls)).toBeUndefined();
      expect(
        await client.patchAndPoll(ONE, Object.fromEntries(groups.map((group) => [group, undefined]))),
      ).toBeUndefined();
      expect(await client.get(ONE)).toMatchObject({ authentication: { oidc }, logging, autoscaler_config });

      await client.patchAndPoll(ONE, {
        authentication: { oidc: null },
        autoscaler_config: {},
        logging: { enabled: false },
        ddos_profile: {
          enabled: true,
          profile_template: 29,
          fields: [{ base_field: 10, field_value: [45046] }],
        },
      });
      expect(await client.get(ONE)).toMatchObject({
        authentication: { oidc: null },
        autoscaler_config: {},
        logging: { enabled: false },
        ddos_profile: { enabled: true, profile_template: 29 },
        task_id: null,
      });
    });

    it('gets all of several changes through, though a task holds the cluster meanwhile', async () => {
      const conflicts = client.repeated.length;
      const wanted = [
        { autoscaler_config: { 'scan-interval': '30s' } },
        { autoscaler_config: { 'max-empty-bulk-delete': '5' } },
      ];
      await Promise.all(wanted.map((body) => client.patchAndPoll(ONE, body)));
      expect(client.repeated.slice(conflicts)).toContain(409);
      expect(await client.get(ONE)).toMatchObject({
        autoscaler_config: { 'scan-interval': '30s', 'max-empty-bulk-delete': '5' },
      });
    });

    it('gets a kubeconfig and certificates that are what they say', async () => {
      const read = await client.get<KubeConfig>(`${ONE}/config`);
      const kubeconfig = parse(read.config);
      expect(kubeconfig).toMatchObject({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ cluster: { server: read.host } }],
      });
      const { certificate, key } = await client.get<{ certificate: string; key: string }>(
        `${ONE}/certificates`,
      );
      const authority = new X509Certificate(certificate);
      expect(key).toContain('PRIVATE KEY');
      const own = new X509Certificate(
        Buffer.from(kubeconfig.users[0].user['client-certificate-data'], 'base64'),
      );
      const embedded = Buffer.from(kubeconfig.clusters[0].cluster['certificate-authority-data'], 'base64');
      expect(new X509Certificate(embedded).fingerprint256).toBe(authority.fingerprint256);
      expect(authority.ca).toBe(true);
      expect(own.verify(authority.publicKey)).toBe(true);
      expect(Date.parse(own.validTo)).toBeGreaterThan(Date.now());
      expect(await client.get(ONE)).toMatchObject({
        authentication: { kubeconfig_expires_at: expect.any(String) },
      });
    });

    it('upgrades to the next minor version', async () => {
      const offered = await client.get<Page<{ version: string }>>(`${ONE}/upgrade_versions`);
      const version = offered.results.at(-1)?.version;
      expect(version).toMatch(/^v1\.32\./);
      await client.postAndPoll(`${ONE}/upgrade`, { version });
      expect(await client.get(ONE)).toMatchObject({ version });
    });
  });

  describe('pools and nodes', () => {
    const POOLS = `${ONE}/pools`;
    const EXTRA = `${POOLS}/extra`;

    it('adds a pool by exactly one task, and reads it by its name', async () => {
      const body = { ...POOL, name: 'extra', labels: { tier: 'extra' }, taints: null };
      const made = await client.createAndPoll<Pool>(POOLS, body, {
        of: 'k8s_pools',
        only: true,
        at: () => EXTRA,
      });
      expect(made).toMatchObject({ name: 'extra', node_count: 1, labels: { tier: 'extra' }, taints: {} });
      expect(await client.all<Pool>(POOLS)).toHaveLength(2);
    });

    it('changes it at once: null and absence keep', async () => {
      const changed = await client.patch(EXTRA, {
        auto_healing_enabled: true,
        labels: null,
        max_node_count: 4,
        min_node_count: undefined,
      });
      expect(changed).toMatchObject({
        auto_healing_enabled: true,
        labels: { tier: 'extra' },
        min_node_count: 1,
        max_node_count: 4,
      });
      expect(await client.get(EXTRA)).toEqual(changed);
    });

    it('resizes it', async () => {
      await client.postAndPoll(`${EXTRA}/resize`, { node_count: 3 });
      expect(await client.get(EXTRA)).toMatchObject({ node_count: 3 });
    });

    it('lists nodes, and has deleted ones replaced', async () => {
      const nodes = await nodesOf(EXTRA);
      expect(nodes).toHaveLength(3);
      expect(await nodesOf(ONE)).toHaveLength(4);
      const [first, second] = nodes;
      await client.silent('DELETE', `${EXTRA}/instances/${first?.id}`);
      await expect.poll(async () => (await nodesOf(EXTRA)).length, { timeout: 10_000 }).toBe(3);
      await client.silent('DELETE', `${ONE}/instances/${second?.id}`);
      await expect.poll(async () => (await nodesOf(EXTRA)).length, { timeout: 10_000 }).toBe(3);
      const ids = (await nodesOf(EXTRA)).map(({ id }) => id);
      for (const gone of [first, second]) expect(ids).not.toContain(gone?.id);
    });

    it('deletes the pool', async () => {
      await client.deleteAndPoll(EXTRA);
      await expect(impatient.get(EXTRA)).rejects.toMatchObject(refusal(404));
    });
  });

  it('deletes the cluster, and then the key that it kept', async () => {
    const KEY = `/cloud/v1/ssh_keys/1/${keyId}`;
    await expect(impatient.silent('DELETE', KEY)).rejects.toMatchObject(refusal(409));
    await client.deleteAndPoll(ONE, { volumes: undefined });
    await client.silent('DELETE', KEY);
    await expect(impatient.get(ONE)).rejects.toMatchObject(refusal(404));
    expect(await client.all(K)).toEqual([]);
  });
}
