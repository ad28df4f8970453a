import type { Call } from './call.ts';

/**
 * The resources of the official provider, version 2, by the paths of the requests that make and read them. Their
 * attributes are the fields of the request, but for some that have another name or, here null, aren't there.
 * With `isMade: false`, the request has other fields altogether, so there is only an import. Without the field that
 * it `needs`, there is no resource.
 */
const RESOURCES: Record<string, { type: string; others?: Others; needs?: string; isMade?: false }> = {
  projects: { type: 'project' },
  networks: { type: 'network', others: { create_router: null } },
  subnets: { type: 'network_subnet' },
  routers: { type: 'network_router' },
  security_groups: { type: 'security_group', others: { instances: null } },
  securitygroups: { type: 'security_group', isMade: false },
  floatingips: { type: 'floating_ip' },
  reserved_fixed_ips: { type: 'reserved_fixed_ip' },
  loadbalancers: { type: 'load_balancer' },
  lblisteners: { type: 'load_balancer_listener' },
  lbpools: { type: 'load_balancer_pool' },
  volumes: { type: 'volume' },
  images: { type: 'instance_image', isMade: false },
  downloadimage: { type: 'instance_image' },
  file_shares: { type: 'file_share', others: { access: null } },
  servergroups: { type: 'placement_group' },
  ssh_keys: { type: 'ssh_key', needs: 'public_key' },
  instances: { type: 'instance', others: { password: null, 'volumes.delete_on_termination': null } },
  'k8s/clusters': {
    type: 'k8s_cluster',
    others: { ddos_profile: null, 'pools.node_count': null, 'cni.provider': 'cloud_k8s_cluster_provider' },
  },
};

const PATH = /^\/cloud\/v\d\/(k8s\/clusters|[a-z_]+)((?:\/\d+){0,2})(?:\/([^/?]+))?$/;
type Others = Readonly<Record<string, string | null>>;
type Fields = Record<string, unknown>;

/** A request that makes something as a resource, and one that reads something as its import; undefined for others. */
export function terraformOf({ method, path, body }: Call): string | undefined {
  const [, kind = '', numbers = '', id] = PATH.exec(path) ?? [];
  const resource = RESOURCES[kind];
  if (!resource) return undefined;
  const type = `gcore_cloud_${resource.type}`;
  const isOne = id !== undefined || (kind === 'projects' && numbers !== '');
  if (method === 'GET' && isOne) {
    return `# terraform plan -generate-config-out=${resource.type}.tf writes the resource itself.
import {
  to = ${type}.${resource.type}
  id = ${text(path.slice(path.indexOf(kind) + kind.length + 1))}
}
`;
  }
  if (method !== 'POST' || isOne || resource.isMade === false || typeof body !== 'object' || body === null)
    return undefined;
  const [project_id, region_id] = numbers.slice(1).split('/').filter(Boolean).map(Number);
  if (resource.needs !== undefined && !(resource.needs in body)) return undefined;
  const lost: string[] = [];
  const place = { project_id, region_id };
  const fields = asAttributes({ ...place, ...body }, resource.others ?? {}, '', lost) as Fields;
  const { volumes, more } = kind === 'instances' ? volumesOf(fields, place) : { volumes: fields.volumes, more: '' };
  const note = lost.length > 0 ? `# The provider has no ${lost.join(', no ')}: set it by the API.\n` : '';
  return `${note}${more}${block(type, labelOf(fields, resource.type), { ...fields, volumes })}`;
}

/** The provider makes the volumes of an instance by themselves. */
function volumesOf({ name, volumes }: Fields, place: Fields) {
  const resources: string[] = [];
  const listed = ((volumes ?? []) as Fields[]).map(({ source, volume_id, boot_index, attachment_tag, ...kept }, at) => {
    if (source === 'existing-volume') return { volume_id, boot_index, attachment_tag };
    const label = `${labelOf({ name }, 'instance')}-${at + 1}`;
    const named = { name: label, ...kept };
    resources.push(block('gcore_cloud_volume', label, { ...place, source, ...named }));
    return { volume_id: new Expression(`gcore_cloud_volume.${label}.id`), boot_index, attachment_tag };
  });
  return { volumes: listed, more: resources.map((one) => `${one}\n`).join('') };
}

/** An expression, and no text. */
class Expression {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Leaves out empty fields and those that the resource doesn't have. The paths of the latter are put into `lost`. */
function asAttributes(of: unknown, others: Others, at: string, lost: string[]): unknown {
  if (Array.isArray(of)) return of.map((one) => asAttributes(one, others, at, lost));
  if (typeof of !== 'object' || of === null) return of;
  return Object.fromEntries(
    Object.entries(of).flatMap(([name, value]) => {
      const path = `${at}${name}`;
      if (value === undefined || value === null) return [];
      const attribute = others[path] === undefined ? name : others[path];
      if (attribute !== null) return [[attribute, asAttributes(value, others, `${path}.`, lost)]];
      if (!lost.includes(path)) lost.push(path);
      return [];
    }),
  );
}

const block = (type: string, label: string, fields: Fields): string =>
  `resource "${type}" ${text(label)} ${written(fields)}\n`;

const labelOf = ({ name }: Fields, otherwise: string): string =>
  (typeof name === 'string' ? name : otherwise).replaceAll(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z_])/, '_');

const text = (value: string): string => JSON.stringify(value).replaceAll(/([$%])\{/g, '$1$1{');

/** A value of HCL, over several lines if it has names. */
function written(value: unknown, indent = ''): string {
  if (value instanceof Expression) return value.text;
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => written(one, indent)).join(', ')}]`;
  const lines = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${indent}  ${nameOf(name)} = ${written(one, `${indent}  `)}\n`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
}

const nameOf = (name: string): string => (/^[a-zA-Z_][\w-]*$/.test(name) ? name : text(name));
