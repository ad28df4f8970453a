import { describe, expect, it } from 'vitest';
import type { Page } from '../shapes.ts';
import { refusal, type Walk } from '../walk.ts';

interface Project {
  id: number;
  name: string;
  is_default: boolean;
}

interface Region {
  id: number;
  has_k8s: boolean;
  available_volume_types: string[] | null;
}

interface SshKey {
  id: string;
  name: string;
  private_key: string | null;
}

interface KeyPair {
  sshkey_id: string;
  sshkey_name: string;
  private_key: string | null;
}

export function describeProjects({ client, impatient, place }: Walk): void {
  describe('projects', () => {
    const PROJECTS = '/cloud/v1/projects';
    let made: Project;

    it('finds the default project', async () => {
      const all = await client.all<Project>(PROJECTS, { limit: 1, order_by: 'name.asc' });
      expect(all.filter(({ is_default }) => is_default)).toHaveLength(1);
    });

    it('creates, reads and lists one', async () => {
      made = await client.post<Project>(PROJECTS, { name: 'walk project', description: null });
      expect(await client.get(`${PROJECTS}/${made.id}`)).toEqual(made);
      expect(await client.all(PROJECTS, { name: 'walk project' })).toEqual([made]);
    });

    it('changes it: null clears, what is left out stays', async () => {
      const described = await client.patch(`${PROJECTS}/${made.id}`, {
        description: 'for a walk',
        name: undefined,
      });
      expect(described).toMatchObject({ name: 'walk project', description: 'for a walk' });
      const renamed = await client.patch(`${PROJECTS}/${made.id}`, { name: 'walked project' });
      expect(renamed).toMatchObject({ name: 'walked project', description: 'for a walk' });
      expect(await client.patch(`${PROJECTS}/${made.id}`, { description: null })).toMatchObject({
        description: null,
      });
    });

    it('deletes it', async () => {
      await client.deleteAndPoll(`${PROJECTS}/${made.id}`);
      expect(await client.all(PROJECTS, { name: 'walked project' })).toEqual([]);
      expect(await client.all(PROJECTS, { name: 'walked project', include_deleted: true })).toHaveLength(1);
    });
  });

  describe('regions, flavors and templates', () => {
    it('lists regions page by page, and reads one with its volume types', async () => {
      const regions = await client.all<Region>('/cloud/v1/regions', {
        limit: 1,
        order_by: 'display_name.asc',
      });
      expect(regions.length).toBeGreaterThan(1);
      const [first] = regions;
      const read = await client.get<Region>(`/cloud/v1/regions/${first?.id}`, { show_volume_types: true });
      expect(read.available_volume_types).toContain('standard');
      const containers = await client.all<Region>('/cloud/v1/regions', { product: 'containers' });
      expect(containers.every(({ has_k8s }) => has_k8s)).toBe(true);
    });

    it('lists flavors with prices', async () => {
      const all = await client.all(place('/cloud/v1/flavors'), { include_prices: true, disabled: true });
      const offered = await client.all(place('/cloud/v1/flavors'), {
        disabled: false,
        exclude_windows: true,
      });
      expect(offered.length).toBeGreaterThan(0);
      expect(all.length).toBeGreaterThan(offered.length);
    });

    it('lists templates of DDoS protection', async () => {
      expect(await client.all('/cloud/v1/ddos/profile-templates/1')).not.toEqual([]);
    });
  });

  describe('SSH keys', () => {
    const KEYS = '/cloud/v1/ssh_keys/1';
    let made: SshKey;

    it('creates one, and shows its private half once', async () => {
      made = await client.post<SshKey>(KEYS, { name: 'walk key', shared_in_project: false });
      expect(made.private_key).toContain('PRIVATE KEY');
      expect(await client.get(`${KEYS}/${made.id}`)).not.toHaveProperty('private_key');
    });

    it('lists, shares and deletes it', async () => {
      expect(await client.all(KEYS, { name: 'walk', limit: 1 })).toHaveLength(1);
      expect(await client.patch(`${KEYS}/${made.id}`, { shared_in_project: true })).toMatchObject({
        shared_in_project: true,
      });
      await client.silent('DELETE', `${KEYS}/${made.id}`);
      await expect(impatient.get(`${KEYS}/${made.id}`)).rejects.toMatchObject(refusal(404));
    });

    it.each([
      ['/cloud/v2/keypairs', { project_id: 1 }],
      ['/cloud/v1/keypairs/1/1', {}],
    ])('does the same at the older %s', async (pairs, project) => {
      const body = { sshkey_name: 'older walk key', ...project };
      const { private_key: _, ...pair } = await client.post<KeyPair>(pairs, body);
      expect(await client.get<KeyPair>(`${pairs}/${pair.sshkey_id}`)).toMatchObject(pair);
      const { results } = await client.get<Page<KeyPair>>(pairs, project);
      expect(results).toContainEqual({ ...pair, private_key: null });
      const share = `/cloud/v1/keypairs/1/1/${pair.sshkey_id}/share`;
      expect(await client.patch(share, { shared_in_project: false })).toMatchObject({
        sshkey_id: pair.sshkey_id,
        shared_in_project: false,
      });
      await client.silent('DELETE', `${pairs}/${pair.sshkey_id}`);
      await expect(impatient.get(`${pairs}/${pair.sshkey_id}`)).rejects.toMatchObject(refusal(404));
    });
  });
}
