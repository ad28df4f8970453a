import { expect, it } from 'vitest';
import { type TaskIds, tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

export function describeLoadBalancers(walk: Walk): void {
  const { client, place } = walk;

  it('load balancers: changes by task, quotas, tags, changes of parts in their older form', async () => {
    const BALANCERS = place('/cloud/v1/loadbalancers');
    const balancer = await client.createAndPoll(BALANCERS, { name: 'walk balancer' }, 'loadbalancers');
    const one = `${BALANCERS}/${balancer.id}`;
    const second = `${place('/cloud/v2/loadbalancers')}/${balancer.id}`;
    await client.poll(await client.patch<TaskIds>(second, { name: 'walk balancer two' }));
    await client.poll(await client.post<TaskIds>(`${second}/metadata`, { env: 'walk' }));
    await client.poll(await client.put<TaskIds>(`${second}/metadata`, { tier: '1', env: 'walk' }));
    await client.poll(await client.delete<TaskIds>(`${second}/metadata_item`, { key: 'env' }));
    const read = await client.get(one);
    expect(read).toMatchObject({ name: 'walk balancer two', tags_v2: tags({ tier: '1' }) });
    await walkMetadata(walk, one);
    expect(await client.post(`${BALANCERS}/check_limits`, { floating_ip: { source: 'new' } })).toEqual({});

    const listener = await client.createAndPoll(
      place('/cloud/v1/lblisteners'),
      { name: 'walk listener', load_balancer_id: balancer.id, protocol: 'HTTP', protocol_port: 80 },
      'listeners',
    );
    const web = `${place('/cloud/v1/lblisteners')}/${listener.id}`;
    expect(await client.patch(web, { name: 'walk web' })).toMatchObject({ name: 'walk web' });
    const pool = await client.createAndPoll(
      place('/cloud/v1/lbpools'),
      { name: 'walk pool', listener_id: listener.id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
      'pools',
    );
    const older = `${place('/cloud/v1/lbpools')}/${pool.id}`;
    await client.poll(await client.patch<TaskIds>(older, { lb_algorithm: 'SOURCE_IP' }));
    expect(await client.get(older)).toMatchObject({ lb_algorithm: 'SOURCE_IP' });
    const member = { address: '10.9.0.2', protocol_port: 80 };
    const added = await client.poll(await client.post<TaskIds>(`${older}/member`, member));
    const [memberId] = added.created_resources?.members ?? [];
    await client.poll(await client.delete<TaskIds>(`${older}/member/${memberId}`));
    expect(await client.get(older)).toMatchObject({ members: [] });
    const wanted = { flavor: 'lb1-1-2' };
    for (const version of ['v1', 'v2']) {
      const prices = `${place(`/cloud/${version}/pricing`)}/loadbalancers`;
      expect(await client.post(prices, wanted)).toMatchObject({ price_status: 'show' });
    }
    await client.poll(await client.delete<TaskIds>(one));
  });
}
