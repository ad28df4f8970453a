import { expect, it } from 'vitest';
import type { Walk } from '../client.ts';

export function describeQuotas({ client }: Walk): void {
  it('quotas: the platform administrator changes them, and grants what is asked for', async () => {
    const regional = '/cloud/v2/regional_quotas/1/1';
    expect(await client.patch(regional, { vm_count_limit: 900 })).toMatchObject({ vm_count_limit: 900 });
    expect(await client.patch(regional, { vm_count_limit: null })).toMatchObject({ vm_count_limit: 1000 });
    const global = '/cloud/v2/global_quotas/1';
    expect(await client.patch(global, { project_count_limit: 9_000 })).toMatchObject({
      project_count_limit: 9_000,
    });
    const requests = '/cloud/v2/limits_request';
    const body = {
      description: 'walk',
      requested_limits: { global_limits: { project_count_limit: 20_000 } },
    };
    await client.created(requests, body);
    const [asked] = await client.list<{ id: number }>(requests);
    expect(await client.patch(`${requests}/${asked?.id}`, { status: 'done' })).toMatchObject({
      status: 'done',
    });
    expect(await client.get(global)).toMatchObject({ project_count_limit: 20_000 });
  });
}
