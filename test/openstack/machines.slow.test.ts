import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { type ServedRegion, serveRegion } from './region.ts';
import { missing, type Rig, startRig } from './rig.ts';

const reason = missing('libvirt');
if (reason !== undefined) console.log(`SKIPPED, ${reason}`);
/** A machine boots within ten seconds, unless the computer is busy. */
const HAPPENS = { timeout: 240_000, interval: 500 };
const TASK_MS = 300_000;
/** The gateway of the project's external network. */
const OUTSIDE = '198.19.0.1/16';

/** What was done, and what came of it after how many seconds. Printed with TRADEWIND_TRANSCRIPT=1. */
const transcript: string[] = [];
async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await run();
  transcript.push(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  return result;
}

describe.skipIf(reason)('machines of a real OpenStack', { timeout: 900_000 }, () => {
  let rig: Rig;
  let region: ServedRegion;
  beforeAll(async () => {
    rig = await timed('the cloud starts', () => startRig({ node: 'libvirt' }));
    region = await serveRegion(rig, 'machines');
  }, 900_000);
  afterAll(async () => {
    await region?.end();
    await rig?.stop();
    if (process.env.TRADEWIND_TRANSCRIPT) console.log(transcript.join('\n'));
  }, 300_000);

  const at = (area: string, version = 'v1') => `/cloud/${version}/${area}/1/1`;

  async function send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
    const answer = await region.http.request(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as T;
  }

  /** Waits until the task has ended. */
  async function done(method: 'POST' | 'DELETE', path: string, body?: object) {
    const answer = await send<string[] | { tasks: string[] }>(method, path, body);
    const [id = ''] = Array.isArray(answer) ? answer : answer.tasks;
    const task = await region.http.task(id, TASK_MS);
    expect(task).toMatchObject({ state: 'FINISHED' });
    return task;
  }

  /** Returns the ID of what is made. */
  async function make(area: string, body: object, version?: string): Promise<string> {
    return (await done('POST', at(area, version), body)).created_resources[area][0];
  }

  /** Returns what a machine's web server says to somebody outside the cloud. */
  async function fetched(port: number, page = ''): Promise<string> {
    const url = `http://${address}:${port}/${page}`;
    const said = rig.inside('timeout', '4', 'busybox', 'wget', '-q', '-O', '-', url);
    return said.catch(() => 'silent');
  }
  const fetches = (wanted: string, port: number, page = '') =>
    vi.waitFor(async () => expect(await fetched(port, page)).toContain(wanted), HAPPENS);

  let group: string;
  let subnet: { id: string; network: string };
  let address: string;
  const machines: { id: string; port: string; address: string }[] = [];

  async function start(name: string): Promise<void> {
    const of = { type: 'subnet', network_id: subnet.network, subnet_id: subnet.id, security_groups: [{ id: group }] };
    const wanted = { flavor: 'g1-standard-1-2', name, interfaces: [of], volumes: [BOOT_VOLUME] };
    const id = await timed(`machine ${name} is made`, () => make('instances', wanted, 'v2'));
    const { results } = await send<{
      results: { port_id: string; ip_assignments: { ip_address: string }[] }[];
    }>('GET', `${at('instances')}/${id}/interfaces`);
    const [{ port_id: port, ip_assignments } = { port_id: '', ip_assignments: [] }] = results;
    machines.push({ id, port, address: ip_assignments[0]?.ip_address ?? '' });
  }
  const onPort = (port: number) => ({
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: 'tcp',
    port_range_min: port,
    port_range_max: port,
  });

  it('have a network, a router and a security group', async () => {
    const range = { name: 'inside', cidr: '10.50.0.0/24', connect_to_network_router: false };
    subnet = await timed('a network and a subnet are made', async () => {
      const network = await make('networks', { name: 'inside' });
      return { network, id: await make('subnets', { ...range, network_id: network }) };
    });
    const router = { name: 'way out', external_gateway_info: { type: 'default' } };
    await timed('a router to the outside is made', () =>
      make('routers', { ...router, interfaces: [{ subnet_id: subnet.id }] }),
    );
    const guarded = { name: 'guarded', security_group_rules: [onPort(22)] };
    ({ id: group } = await send<{ id: string }>('POST', at('securitygroups'), { security_group: guarded }));
  });

  it('boot and answer through a floating address, where the group lets them', async () => {
    await start('one');
    const id = await timed('it gets a floating address', () => make('floatingips', { port_id: machines[0]?.port }));
    const floating = await send<{ floating_ip_address: string }>('GET', `${at('floatingips')}/${id}`);
    address = floating.floating_ip_address;
    // Neutron's agent has made the bridge of the external network for the router.
    const bridge = `brq${region.project.externalNetworkId.slice(0, 11)}`;
    await rig.inside('ip', 'address', 'add', OUTSIDE, 'dev', bridge);
    await timed('it has booted and answers on port 22', () => fetches('a machine', 22));
    expect(await fetched(80)).toBe('silent');
  });

  it('are opened and closed by rules', async () => {
    const rule = await timed('a rule is added, and it answers on port 80', async () => {
      const { id } = await send<{ id: string }>('POST', `${at('securitygroups')}/${group}/rules`, onPort(80));
      await fetches('a machine', 80);
      return id;
    });
    await timed('the rule is removed, and it is silent there', async () => {
      await send('DELETE', `${at('securitygrouprules')}/${rule}`);
      await fetches('silent', 80);
    });
  });

  it('reach each other if their group lets them', async () => {
    const page = (port: number) => `cgi-bin/neighbour?${machines[1]?.address}:${port}`;
    await start('two');
    await timed('it has booted and answers machine one on port 22', () => fetches('a machine', 22, page(22)));
    expect(await fetched(22, page(80))).toContain('no answer');
    await timed('a rule for the group itself is added, and it answers on port 80', async () => {
      const fromGroup = { ...onPort(80), remote_group_id: group };
      await send('POST', `${at('securitygroups')}/${group}/rules`, fromGroup);
      await fetches('a machine', 22, page(80));
    });
    expect(await fetched(80)).toBe('silent');
  });

  it('keep what is on a volume, also in a snapshot', async () => {
    const instance = { instance_id: machines[0]?.id };
    const change = (volume: string, what: 'attach' | 'detach') =>
      done('POST', `${at('volumes', 'v2')}/${volume}/${what}`, instance);
    const disks = async () => (await fetched(22, 'cgi-bin/disks')).match(/vd[a-z]/g);
    const sees = (names: string[]) => vi.waitFor(async () => expect(await disks()).toEqual(names), HAPPENS);
    const disk = { name: 'data', type_name: 'standard' };

    const volume = await timed('a volume is made', () => make('volumes', { ...disk, source: 'new-volume', size: 1 }));
    await sees(['vda']);
    await timed('it is attached, and machine one sees the disk', async () => {
      await change(volume, 'attach');
      await sees(['vda', 'vdb']);
    });
    await fetched(22, 'cgi-bin/keep?first');
    const snapshot = await timed('a snapshot is made while it is in use', () =>
      make('snapshots', { name: 'kept', volume_id: volume }),
    );
    await fetched(22, 'cgi-bin/keep?second');
    await timed('it is detached, and the disk is gone', async () => {
      await change(volume, 'detach');
      await sees(['vda']);
    });
    const copy = await timed('a volume is made of the snapshot', () =>
      make('volumes', { ...disk, source: 'snapshot', snapshot_id: snapshot }),
    );
    await timed('it is attached, and has what was written before the snapshot', async () => {
      await change(copy, 'attach');
      await fetches('first', 22, 'cgi-bin/kept');
    });
  });

  it('stop and start', async () => {
    const path = `${at('instances', 'v2')}/${machines[0]?.id}/action`;
    await timed('machine one is stopped', () => done('POST', path, { action: 'stop' }));
    expect(await fetched(22)).toBe('silent');
    await timed('it is started, boots and answers', async () => {
      await done('POST', path, { action: 'start' });
      await fetches('a machine', 22);
    });
  });

  it('have a console', async () => {
    const path = `${at('instances')}/${machines[0]?.id}/get_console?console_type=novnc`;
    await timed('its console shows a page, and the screen says RFB 003.008', async () => {
      const { remote_console } = await send<{ remote_console: { url: string } }>('GET', path);
      const url = new URL(remote_console.url);
      const page = await fetch(url);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('noVNC')]);
      const screen = new URL(url.searchParams.get('path') ?? '', url.origin.replace('http', 'ws'));
      expect(await firstOf(screen)).toBe('RFB 003.008\n');
    });
  });

  it('are deleted', async () => {
    const remove = ({ id }: { id: string }) => done('DELETE', `${at('instances')}/${id}?delete_floatings=true`);
    await timed('both machines are deleted', () => Promise.all(machines.map(remove)));
    expect(await fetched(22)).toBe('silent');
  });
});

/** Returns what a WebSocket says first. */
async function firstOf(url: URL): Promise<string> {
  const socket = new WebSocket(url, ['binary']);
  const [data] = (await once(socket, 'message')) as [Buffer];
  // The answer of Nova's proxy to a farewell is not valid.
  socket.terminate();
  return data.toString();
}
