import { $api } from '../../lib/api.ts';

export const GLOBAL = '/cloud/v2/global_quotas/{client_id}';
export const REGIONAL = '/cloud/v2/regional_quotas/{client_id}/{region_id}';

const NAMES: Record<string, string> = {
  cluster: 'Kubernetes clusters',
  firewall: 'security groups',
  floating: 'floating IPs',
  keypair: 'SSH keys',
  laas_topic: 'log topics',
  loadbalancer: 'load balancers',
  reserved_fixed_ip: 'reserved IPs',
  servergroup: 'placement groups',
  sfs: 'file shares',
  vm: 'instances',
  volume_snapshots: 'snapshots',
};
/** What a quota counts, such as `load balancers` for `loadbalancer_count_limit`. */
export const nameOf = (field: string): string => {
  const name = field.replace(/_count_limit$/, '');
  return NAMES[name] ?? `${name.replaceAll('_', ' ')}s`;
};

export interface Quota {
  field: string;
  limit: number;
  used: number;
}

export function quotasIn(data: Readonly<Record<string, number>>): Quota[] {
  return Object.entries(data).flatMap(([field, limit]) =>
    field.endsWith('_limit') ? [{ field, limit, used: data[field.replace(/_limit$/, '_usage')] ?? 0 }] : [],
  );
}

/** The fields of the limits that there are: in each region, and in all regions together. */
export function useLimitFields(clientId: number) {
  const regions = $api.useQuery('get', '/cloud/v1/regions', {}).data?.results ?? [];
  const global = $api.useQuery('get', GLOBAL, { params: { path: { client_id: clientId } } });
  const [first] = regions;
  const regional = $api.useQuery(
    'get',
    REGIONAL,
    { params: { path: { client_id: clientId, region_id: first?.id ?? 0 } } },
    { enabled: first !== undefined },
  );
  const fields = (data: object | undefined) =>
    quotasIn((data ?? {}) as Record<string, number>).map(({ field }) => field);
  return { regions, inRegions: fields(regional.data), inAll: fields(global.data) };
}
