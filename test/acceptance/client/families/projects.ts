import { expect, it } from 'vitest';
import { refusal, type Walk } from '../client.ts';

interface KeyPair {
  sshkey_id: string;
  sshkey_name: string;
  private_key: string | null;
}

export function describeProjects({ client }: Walk): void {
  it('templates of DDoS protection', async () => {
    expect(await client.list('/cloud/v1/ddos/profile-templates/1')).not.toEqual([]);
  });

  it.each([
    ['/cloud/v2/keypairs', { project_id: 1 }],
    ['/cloud/v1/keypairs/1/1', {}],
  ])('SSH keys at the older %s', async (pairs, project) => {
    const body = { sshkey_name: 'older walk key', ...project };
    const { private_key, ...pair } = await client.post<KeyPair>(pairs, body);
    expect(private_key).toContain('PRIVATE KEY');
    expect(await client.get<KeyPair>(`${pairs}/${pair.sshkey_id}`)).toMatchObject(pair);
    expect(await client.list(pairs, project)).toContainEqual({ ...pair, private_key: null });
    const share = `/cloud/v1/keypairs/1/1/${pair.sshkey_id}/share`;
    expect(await client.patch(share, { shared_in_project: false })).toMatchObject({
      sshkey_id: pair.sshkey_id,
      shared_in_project: false,
    });
    await client.silent('DELETE', `${pairs}/${pair.sshkey_id}`);
    await expect(client.get(`${pairs}/${pair.sshkey_id}`)).rejects.toMatchObject(refusal(404));
  });
}
