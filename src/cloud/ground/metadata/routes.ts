import type { Api } from '../../../http/server.ts';
import { versionedIn } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import { type FamilyAddress, familyRoutes, tagByKeyRoutes } from './family-routes.ts';
import type { Family, TagHolder } from './service.ts';

const INSTANCES: FamilyAddress = {
  base: '/cloud/v1/instances',
  parameter: 'instance_id',
  name: 'Instance',
  one: 'an instance',
  group: 'Instances',
};
const FAMILIES: Record<Family, FamilyAddress> = {
  fileShare: {
    base: '/cloud/v1/file_shares',
    parameter: 'file_share_id',
    name: 'FileShare',
    one: 'a file share',
    group: 'File shares',
  },
  floatingIp: {
    base: '/cloud/v1/floatingips',
    parameter: 'floating_ip_id',
    name: 'FloatingIp',
    one: 'a floating IP',
    group: 'Floating IPs',
  },
  image: {
    base: '/cloud/v1/images',
    parameter: 'image_id',
    name: 'Image',
    one: 'an image',
    group: 'Images',
  },
  instance: INSTANCES,
  loadBalancer: {
    base: '/cloud/v1/loadbalancers',
    parameter: 'load_balancer_id',
    name: 'LoadBalancer',
    one: 'a load balancer',
    group: 'Load balancers',
  },
  network: {
    base: '/cloud/v1/networks',
    parameter: 'network_id',
    name: 'Network',
    one: 'a network',
    group: 'Networks',
  },
  securityGroup: {
    base: '/cloud/v1/securitygroups',
    parameter: 'group_id',
    name: 'SecurityGroup',
    one: 'a security group',
    group: 'Security groups',
  },
  subnet: {
    base: '/cloud/v1/subnets',
    parameter: 'subnet_id',
    name: 'Subnet',
    one: 'a subnet',
    group: 'Networks',
  },
  volume: {
    base: '/cloud/v1/volumes',
    parameter: 'volume_id',
    name: 'Volume',
    one: 'a volume',
    group: 'Volumes',
  },
};

/** Routes for tags as resources: an older way to change them than updating the resource. */
export function metadataRoutes(app: Api, on: Platform, holders: Readonly<Record<Family, TagHolder>>): void {
  for (const family of Object.keys(FAMILIES) as Family[]) {
    familyRoutes(app, on, holders[family], FAMILIES[family]);
  }
  tagByKeyRoutes(app, on, holders.instance, INSTANCES);
  const second = {
    ...INSTANCES,
    base: '/cloud/v2/instances',
    generation: 'V2',
    versioned: versionedIn('instances', 'instance_id'),
  };
  familyRoutes(app, on, holders.instance, second);
}
