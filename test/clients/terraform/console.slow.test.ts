import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { terraformOf } from '../../../console/src/lib/terraform.ts';
import { newKeyPair } from '../../../src/cloud/compute/ssh-keys/service.ts';
import { documentedOperations, exampleBody, filledPath } from '../../support/openapi.ts';
import { tasksIn } from '../../support/possessions.ts';
import { startService, type TestService } from '../../support/service.ts';
import { filesOf, openTofu, type Tofu } from './tofu.ts';

/** What the console shows as Terraform beside its forms, as the requests of these forms. */
const { TRADEWIND_TEST_TOFU: tofu = '', TRADEWIND_TEST_PROVIDER_V2: provider = '' } = process.env;
const missing = [tofu, provider].some((file) => !fs.existsSync(file));
if (missing) process.stderr.write('SKIPPED the Terraform of the console, for want of programs: see v2.slow.test.ts\n');

const HEAD = `terraform {
  required_providers {
    gcore = {
      source = "G-Core/gcore"
    }
  }
}
`;

/** An attribute of a schema; of maps and texts, everything is known. */
interface Attribute {
  nested_type?: { attributes: Attributes };
}
type Attributes = Record<string, Attribute>;
interface Schemas {
  resource_schemas: Record<string, { block: { attributes: Attributes } }>;
}

/** Names of the blocks that the schemas don't have. Terraform drops those within objects without a word. */
function unknownNames(hcl: string, schemas: Schemas['resource_schemas']): string[] {
  const unknown: string[] = [];
  let type = '';
  let open: (Attributes | undefined)[] = [];
  for (const line of hcl.split('\n')) {
    const [, begun] = /^resource "(\w+)"/.exec(line) ?? [];
    const [, name = '', value = ''] = /^\s+(\S+) = (.*)$/.exec(line) ?? [];
    if (begun !== undefined) {
      type = begun;
      open = [schemas[type]?.block.attributes ?? expect.fail(`There is no ${type}`)];
    } else if (name === '') {
      if (/^\s*\}\]?$/.test(line)) open.pop();
    } else {
      const known = open.at(-1);
      if (known && !known[name]) unknown.push(`${type}: ${line.trim()}`);
      if (value.endsWith('{')) open.push(known?.[name]?.nested_type?.attributes);
    }
  }
  return unknown;
}

describe.skipIf(missing)('the Terraform of the console', { timeout: 600_000 }, () => {
  let service: TestService;
  let terraform: Tofu;
  let folder: string;
  beforeAll(async () => {
    service = await startService({ TRADEWIND_SIMULATION_SPEED: '100', TRADEWIND_RATE_LIMIT: '0' });
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-code-'));
    terraform = openTofu({ tofu, provider, modules: folder });
  });
  afterAll(async () => {
    terraform?.stop();
    await service?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('makes what the forms would make, and removes it', async () => {
    const { http, projectId } = await service.otherTenant();
    const place = `${projectId}/1`;
    const made = async (path: string, body: object, kind: string): Promise<string> => {
      const answer = await http.post(path, body);
      expect(answer.status, answer.text).toBe(200);
      return (await http.task(tasksIn(answer.body)[0] ?? '')).created_resources[kind][0];
    };
    const network = await made(`/cloud/v1/networks/${place}`, { name: 'base', create_router: false }, 'networks');
    const subnet = await made(
      `/cloud/v1/subnets/${place}`,
      { name: 'base', network_id: network, cidr: '10.9.0.0/24', connect_to_network_router: false },
      'subnets',
    );
    const balancer = await made(`/cloud/v1/loadbalancers/${place}`, { name: 'base' }, 'loadbalancers');
    const { body: images } = await http.get(`/cloud/v1/images/${place}`);
    await http.post(`/cloud/v1/ssh_keys/${projectId}`, { name: 'base' });
    const key = { name: 'mine', public_key: (await newKeyPair('me')).text };
    const rule = { direction: 'ingress', ethertype: 'IPv4', protocol: 'tcp', port_range_min: 443, port_range_max: 443 };
    const volume = { source: 'image', image_id: images.results[0].id, size: 20, type_name: 'standard', boot_index: 0 };
    const bodies: Record<string, object> = {
      [`/cloud/v1/ssh_keys/${projectId}`]: key,
      [`/cloud/v1/networks/${place}`]: { name: 'made.here', type: 'vxlan', create_router: true },
      [`/cloud/v1/subnets/${place}`]: { name: 'second', network_id: network, cidr: '10.9.1.0/24', enable_dhcp: true },
      [`/cloud/v1/routers/${place}`]: { name: 'door', interfaces: [{ type: 'subnet', subnet_id: subnet }] },
      [`/cloud/v2/security_groups/${place}`]: { name: 'web', description: '', rules: [rule] },
      [`/cloud/v1/floatingips/${place}`]: {},
      [`/cloud/v1/reserved_fixed_ips/${place}`]: { type: 'subnet', network_id: network, subnet_id: subnet },
      [`/cloud/v1/loadbalancers/${place}`]: { name: 'front', flavor: 'lb1-1-2' },
      [`/cloud/v1/lblisteners/${place}`]: {
        name: 'web',
        load_balancer_id: balancer,
        protocol: 'HTTP',
        protocol_port: 80,
      },
      [`/cloud/v1/volumes/${place}`]: { source: 'new-volume', name: 'data', size: 5, type_name: 'standard' },
      [`/cloud/v1/servergroups/${place}`]: { name: 'apart', policy: 'anti-affinity' },
      [`/cloud/v2/instances/${place}`]: {
        name: 'web-1',
        flavor: 'g1-standard-1-2',
        volumes: [volume],
        interfaces: [{ type: 'external', ip_family: 'ipv4' }],
      },
      [`/cloud/v2/k8s/clusters/${place}`]: {
        name: 'made',
        version: 'v1.32.13',
        keypair: 'base',
        pools: [
          {
            name: 'pool-1',
            flavor_id: 'g1-standard-2-4',
            min_node_count: 1,
            max_node_count: 2,
            node_count: 1,
            boot_volume_type: 'standard',
            boot_volume_size: 50,
            servergroup_policy: 'soft-anti-affinity',
          },
        ],
        cni: { provider: 'cilium', cilium: { hubble_relay: true } },
        autoscaler_config: { 'scan-interval': '20s' },
      },
    };
    const file = path.join(folder, 'all.tf');
    const blocks = Object.entries(bodies).map(([path, body]) => terraformOf({ method: 'POST', path, body }));
    fs.writeFileSync(file, [HEAD, ...blocks].join('\n'));
    const token = http.token ?? expect.fail('The account has no token');
    const environment = { GCORE_BASE_URL: `${service.url}/gcore`, GCORE_API_KEY: token };
    const stand = terraform.open('all', filesOf(folder), environment);
    const applied = await stand.say('apply', '-auto-approve');
    expect(applied.code, `${fs.readFileSync(file, 'utf8')}\n${applied.said}`).toBe(0);
    expect(stand.resources()).toHaveLength(blocks.length + 1);
    const destroyed = await stand.say('destroy', '-auto-approve');
    expect(destroyed.code, destroyed.said).toBe(0);
  });

  it('has only names that the provider knows, in the examples of all requests', async () => {
    const file = path.join(folder, 'head', 'head.tf');
    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(file, HEAD);
    const { code, stdout, said } = await terraform.open('head', [file], {}).say('providers', 'schema', '-json');
    expect(code, said).toBe(0);
    const [{ resource_schemas: schemas } = expect.fail(said)] = Object.values<Schemas>(
      JSON.parse(stdout).provider_schemas,
    );
    const shown = (await documentedOperations())
      .filter(({ method, operation }) => method === 'POST' && operation.requestBody)
      .flatMap((of) => {
        const text = terraformOf({
          method: 'POST',
          path: filledPath(of, { project_id: 1, region_id: 1 }),
          body: exampleBody(of),
        });
        return text === undefined ? [] : [text];
      });
    // Of the form, but not of the example.
    const share = { name: 'made', size: 1, protocol: 'NFS', access: [{ ip_address: '10.0.0.1', access_mode: 'rw' }] };
    shown.push(terraformOf({ method: 'POST', path: '/cloud/v1/file_shares/1/1', body: share }) ?? '');
    expect(shown.length).toBeGreaterThan(15);
    expect(shown.flatMap((text) => unknownNames(text, schemas))).toEqual([]);
  });
});
