import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, type Typed, tradewind } from '../test/support/cli.ts';
import { POOL } from '../test/support/clusters.ts';
import { startService, type TestService } from '../test/support/service.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-cli-'));
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

const run = (line: string, { environment, ...typed }: Typed = {}): Promise<Ran> =>
  tradewind(line, {
    ...typed,
    environment: {
      TRADEWIND_URL: service.url,
      TRADEWIND_TOKEN: service.http.token ?? '',
      TRADEWIND_REGION: '1',
      ...environment,
    },
  });

/** Runs a command that must work, and returns what it prints as JSON. */
async function json(line: string, typed: Typed = {}): Promise<Ran['json']> {
  const { code, err, json: printed } = await run(`${line} --json`, typed);
  expect(code, `${line}: ${err}`).toBe(0);
  return printed;
}

async function rows(line: string): Promise<string[][]> {
  const { code, err, out } = await run(line);
  expect(code, `${line}: ${err}`).toBe(0);
  const lines = out.trimEnd().split('\n');
  return lines.map((each) => each.split(/ {2,}/));
}

function fileOf(name: string, text: string): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
}

it('a machine in a network of its own, from the first command to the last', async () => {
  const network = await json('network create --name back-end --wait');
  expect(network).toMatchObject({ name: 'back-end', region_id: 1 });
  const subnet = await json(`subnet create --name rack-one --network-id ${network.id} --cidr 10.9.0.0/24 --wait`);
  expect(subnet).toMatchObject({ name: 'rack-one', cidr: '10.9.0.0/24' });
  const group = await json('security-group create --name web-traffic --rules [] --wait');
  expect(group).toMatchObject({ name: 'web-traffic', security_group_rules: [] });
  const ports = '--port-range-min 443 --port-range-max 443';
  const ruled = await json(`security-group rule create web-traffic --direction ingress --protocol tcp ${ports} --wait`);
  expect(ruled.security_group_rules).toMatchObject([{ port_range_min: 443, protocol: 'tcp' }]);
  const volume = await json('volume create --source new-volume --name system-disk --size 10 --wait');
  expect(volume).toMatchObject({ name: 'system-disk', status: 'available' });

  const file = fileOf(
    'web.yaml',
    `
name: from-the-file
flavor: g1-standard-2-4
volumes:
  - { source: existing-volume, volume_id: ${volume.id}, boot_index: 0 }
interfaces:
  - { type: subnet, network_id: ${network.id}, subnet_id: ${subnet.id} }
security_groups:
  - id: ${group.id}
`,
  );
  // It has no system to start from, and the server says so.
  expect(await run(`instance create --file ${file} --name web-1 --wait`)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Refused \(400\): /),
  });
  const [{ id: image }] = await json('image list --columns id');
  const booting = fs.readFileSync(file, 'utf8').replace(/source: .*,/, `source: image, image_id: ${image}, size: 10,`);
  fileOf('web.yaml', booting);
  const { changes } = await json(`instance create --file ${file} --name web-1 --dry-run`);
  expect(changes).not.toEqual([]);
  expect(await run('instance list')).toMatchObject({ code: 0, err: 'None.\n' });
  // Options win over the file.
  const made = await run(`instance create --file ${file} --name web-1 --wait --json`);
  expect(made).toMatchObject({ code: 0, json: { name: 'web-1', status: 'ACTIVE' } });

  const [head, row] = await rows('instance list --status ACTIVE');
  expect(head).toEqual(expect.arrayContaining(['ID', 'NAME', 'STATUS']));
  expect(row).toEqual(expect.arrayContaining([made.json.id, 'web-1', 'ACTIVE']));
  expect(await rows('instance list --columns name,flavor.vcpus')).toEqual([
    ['NAME', 'FLAVOR VCPUS'],
    ['web-1', '2'],
  ]);
  expect(await json('instance change web-1 --name web-2')).toMatchObject({ id: made.json.id, name: 'web-2' });
  expect(await json('instance stop web-2 --wait')).toMatchObject({ status: 'SHUTOFF' });
  expect(await json('instance start web-2 --wait')).toMatchObject({ status: 'ACTIVE' });
  expect((await run('instance delete web-2', { answer: 'n' })).err).toContain(
    'Delete an instance web-2: are you sure? [y/N] Nothing was done.',
  );
  expect(await json('instance delete web-2 --yes --wait')).toMatchObject({
    state: 'FINISHED',
    task_type: 'delete_vm',
  });
  for (const thing of ['volume delete system-disk', 'subnet delete rack-one', 'network delete back-end'])
    expect(await json(`${thing} --yes --wait`), thing).toMatchObject({ state: 'FINISHED' });
  expect(await run('security-group delete web-traffic --yes')).toMatchObject({ code: 0, out: 'Done.\n' });
});

it('a cluster with pools, and nodes', async () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6I4Wq1CkpUeNlQZ6ZfHkTGVsfJBPw1HnZ0nNPQpBOZ me';
  expect(await json(`ssh-key create --name laptop --public-key "${key}"`)).toMatchObject({ name: 'laptop' });
  const pool = (name: string) => JSON.stringify({ ...POOL, name });
  const made = await json(
    `cluster create --name lab --version v1.35.3 --keypair laptop --pools '${pool('first')}' --wait`,
  );
  expect(made).toMatchObject({ name: 'lab', status: 'Provisioned' });
  const second = await json('cluster pool create lab --file - --wait', { input: pool('second') });
  expect(second).toMatchObject({ name: 'second', flavor_id: 'g1-standard-2-4' });
  expect((await rows('cluster pool list lab')).flat()).toEqual(expect.arrayContaining(['first', 'second']));
  expect(await json('cluster pool resize lab second --node-count 2 --wait')).toMatchObject({ node_count: 2 });
  expect(await json('cluster pool delete lab second --yes --wait')).toMatchObject({ state: 'FINISHED' });
  expect(await json('cluster delete lab --yes --wait')).toMatchObject({ state: 'FINISHED' });
});

it('a load balancer with a listener, and AI tasks', async () => {
  const made = await json('load-balancer create --name entrance --flavor lb1-1-2 --wait');
  expect(made).toMatchObject({ name: 'entrance', provisioning_status: 'ACTIVE' });
  const options = `--name https --load-balancer-id ${made.id} --protocol TCP --protocol-port 443`;
  expect(await json(`load-balancer listener create ${options} --wait`)).toMatchObject({ protocol_port: 443 });
  expect((await rows('load-balancer list')).flat()).toContain('entrance');
  expect(await json('load-balancer delete entrance --yes --wait')).toMatchObject({ state: 'FINISHED' });
  expect(await json('ai-task create --task-name transcription --ai-task-url http://127.0.0.1/x.mp4')).toHaveProperty(
    'task_id',
  );
  const [head, ...tasks] = await rows('ai-task list');
  expect([head, tasks]).toEqual([expect.arrayContaining(['STATUS']), [expect.arrayContaining(['transcription'])]]);
});

describe('what a command is about', () => {
  it('is the project and the region that the environment names, or the only ones', async () => {
    await json('project create --name other');
    const elsewhere = { environment: { TRADEWIND_PROJECT: 'other', TRADEWIND_REGION: 'Cape Merrin' } };
    const { id } = await json('volume create --source new-volume --name over-there --size 1 --wait', elsewhere);
    expect(await json('volume list', elsewhere)).toMatchObject([{ id, region_id: 2 }]);
    // Of several projects, the default one.
    expect((await run('volume list')).out).not.toContain('over-there');
    expect(await json('volume list --project other --region 2')).toHaveLength(1);
    const open = await run('volume list', { environment: { TRADEWIND_REGION: '' } });
    expect([open.code, open.err]).toEqual([2, expect.stringMatching(/^Which region\? .*1 \(Port Halden\)/)]);
  });

  it('has a name that one thing has', async () => {
    const two = await Promise.all(
      [1, 2].map(() => json('volume create --source new-volume --name twin --size 1 --wait')),
    );
    const { code, err } = await run('volume get twin');
    expect(code).toBe(2);
    for (const { id } of two) expect(err).toContain(id);
    expect(await json(`volume get ${two[0].id}`)).toMatchObject({ name: 'twin' });
    expect(await run('volume get lost')).toMatchObject({
      code: 1,
      err: 'There is no volume lost. "tradewind volume list" shows what there is.\n',
    });
  });
});

it.each([
  ['volume create --name disk', 'Missing: --source'],
  ['volume create --source tape', 'Allowed choices are new-volume, image, snapshot'],
  ['volume create --source new-volume --name disk --size big', '--size must be a whole number, not big'],
  ['volume create --file /none.yaml', "/none.yaml can't be read: "],
  ['volume create --file - --data {}', 'Give --file or --data, not both'],
  ['volume create --file -', 'The body must have fields such as "name: web"'],
  ['instance create --flavor x --volumes 7{', '--volumes is no JSON'],
  ['volume lisst', 'Did you mean list?'],
  ['volum list', 'Did you mean volume?'],
  ['volume list --colums x', 'Did you mean --columns?'],
])('%s is refused before anything is sent', async (line, complaint) => {
  const { code, err, out } = await run(line, { input: '- only\n- a list\n' });
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(complaint)]);
});

it('ends with 4 if what --wait waits for fails', async () => {
  await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { fail: 'no room' } });
  const { code, err } = await run('volume create --source new-volume --name doomed --size 1 --wait');
  await service.http.delete('/tradewind/v1/test/faults');
  expect([code, err]).toEqual([4, expect.stringMatching(/\(create_volume\) failed: /)]);
});
