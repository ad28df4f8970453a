import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { TagAnswer } from '../../../lib/resource-fields.ts';
import { TagsInput } from '../../../lib/tags-input.ts';
import { type Versioned, versionedIn } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import type { Scope } from '../projects/service.ts';
import { KeyQuery, type ResourcePath, resourceParams, TagList } from './schema.ts';
import { addTags, type Family, getTag, listTags, removeTag, replaceTags, type TagHolder } from './service.ts';

export interface FamilyAddress {
  /** The part of the path before project and region, such as `/cloud/v1/subnets`. */
  base: string;
  /** The path parameter with the resource's ID. */
  parameter: string;
  /** End of the operation IDs, such as `SecurityGroup`. `generation` tells several paths to the same tags apart. */
  name: string;
  generation?: string;
  /** What the tags are a part of, where no route says it for the address above. */
  versioned?: Versioned;
  /** The kind of resource, for use in sentences. */
  one: string;
  /** The group of these operations in the API document. */
  group: string;
}

function addressed(family: FamilyAddress) {
  const { base, parameter, name, generation = '', versioned } = family;
  return {
    url: `${base}/:project_id/:region_id/:${parameter}/metadata`,
    params: resourceParams(parameter),
    changes: versioned && { versioned },
    /** Operation ID and summary. */
    named: (verb: string, rest: string, summary: string) =>
      [`${verb}${name}Metadata${rest}${generation}`, `${summary} of ${family.one}`] as const,
    target: ({ scope, params }: { scope: Scope; params: ResourcePath }) =>
      [scope, String(params[parameter])] as const,
  };
}

/** Routes for the tags of one kind of resource: all of them at once, or one by one. */
export function familyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, named, target } = addressed(family);
  const api = operations(app, { tags: [family.group], params: params.resource, deprecated: true });

  api.get(url, ...named('list', '', 'List the tags'), {
    answer: TagList,
    handler: async (call) => {
      const results = await listTags(on, holder, ...target(call));
      return { count: results.length, results };
    },
  });

  api.post(url, ...named('add', '', 'Add or update tags'), {
    ...changes,
    description: "Other tags don't change.",
    body: TagsInput,
    handler: (call) => addTags(on, holder, ...target(call), call.body),
  });

  api.put(url, ...named('replace', '', 'Replace all tags'), {
    ...changes,
    body: TagsInput,
    handler: (call) => replaceTags(on, holder, ...target(call), call.body),
  });

  api.get(`${url}_item`, ...named('get', 'Item', 'Get a tag'), {
    query: KeyQuery,
    answer: TagAnswer,
    handler: (call) => getTag(on, holder, ...target(call), call.query.key),
  });

  api.delete(`${url}_item`, ...named('delete', 'Item', 'Delete a tag'), {
    ...changes,
    query: KeyQuery,
    handler: (call) => removeTag(on, holder, ...target(call), call.query.key),
  });
}

/** Routes for single tags with the key in the path, which some kinds offer in addition. */
export function tagByKeyRoutes(app: Api, on: Platform, holder: TagHolder, family: FamilyAddress): void {
  const { url, params, changes, named, target } = addressed(family);
  const api = operations(app, { tags: [family.group], params: params.tag, deprecated: true });

  api.get(`${url}/:key`, ...named('get', 'ByKey', 'Get a tag'), {
    answer: TagAnswer,
    handler: (call) => getTag(on, holder, ...target(call), call.params.key),
  });

  api.delete(`${url}/:key`, ...named('delete', 'ByKey', 'Delete a tag'), {
    ...changes,
    handler: (call) => removeTag(on, holder, ...target(call), call.params.key),
  });
}

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
