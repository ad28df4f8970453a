import type { CreateCluster } from './data.ts';

const text = (value: string): string => JSON.stringify(value).replaceAll(/([$%])\{/g, '$1$1{');

/** A value of HCL. Names of maps are quoted, since labels contain dots and slashes. */
function literal(value: unknown): string {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([name, one]) => `${text(name)} = ${literal(one)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return String(value);
}

type Lines = string[];

const given = (values: object): [string, unknown][] =>
  Object.entries(values).filter(([, value]) => value !== undefined && value !== null);

const attributes = (values: object): Lines => given(values).map(([name, value]) => `${name} = ${literal(value)}`);

const block = (name: string, lines: Lines): Lines => [`${name} {`, ...lines.map((line) => `  ${line}`), '}'];

/** What the resource of the official provider doesn't have. */
function missing({ add_ons, csi, pools, logging, cni }: CreateCluster): string[] {
  return [
    ...(add_ons?.slurm?.enabled ? ['add_ons'] : []),
    ...(csi?.nfs?.vast_enabled ? ['csi'] : []),
    ...(logging ? ['logging'] : []),
    ...(cni?.cilium?.cni_exclusive === undefined ? [] : ['cni_exclusive']),
    ...(pools.some(({ security_group_ids: ids }) => ids && ids.length > 0) ? ['security_group_ids of pools'] : []),
  ];
}

/** The cluster as the resource `gcore_k8sv2` of the provider G-Core/gcore has it. */
export function terraformOf(body: CreateCluster, place: { project: number; region: number }): string {
  const { name, version, keypair, pools, authentication, autoscaler_config, cni, ddos_profile, ...rest } = body;
  const { fixed_network, fixed_subnet, is_ipv6 } = rest;
  const { pods_ip_pool, services_ip_pool, pods_ipv6_pool, services_ipv6_pool } = rest;
  const left = missing(body);
  const { cilium, ...plugIn } = cni ?? {};
  const { cni_exclusive: _exclusive, ...flags } = cilium ?? {};
  const lines = [
    ...attributes({
      project_id: place.project,
      region_id: place.region,
      name,
      version,
      keypair,
      fixed_network: fixed_network || undefined,
      fixed_subnet: fixed_subnet || undefined,
      is_ipv6,
      pods_ip_pool,
      services_ip_pool,
      pods_ipv6_pool,
      services_ipv6_pool,
      autoscaler_config: autoscaler_config ?? undefined,
    }),
    ...pools.flatMap(({ security_group_ids: _, ...pool }) => ['', ...block('pool', attributes(pool))]),
    ...(authentication?.oidc ? ['', ...block('authentication', block('oidc', attributes(authentication.oidc)))] : []),
    ...(cni
      ? ['', ...block('cni', [...attributes(plugIn), ...(cilium ? block('cilium', attributes(flags)) : [])])]
      : []),
    ...(ddos_profile ? ['', ...ddosBlock(ddos_profile)] : []),
  ];
  const note = left.length > 0 ? [`# The provider has no ${left.join(', no ')}: set it by the API.`] : [];
  return [...note, ...block(`resource "gcore_k8sv2" ${text(labelOf(name))}`, lines)]
    .map((line) => line.trimEnd())
    .join('\n')
    .concat('\n');
}

const labelOf = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'cluster';

function ddosBlock({ fields = [], ...profile }: NonNullable<CreateCluster['ddos_profile']>): Lines {
  const values = fields.flatMap(({ base_field, field_value }) =>
    block('fields', [`base_field = ${base_field}`, `field_value = jsonencode(${literal(field_value ?? null)})`]),
  );
  return block('ddos_profile', [...attributes(profile), ...values]);
}
