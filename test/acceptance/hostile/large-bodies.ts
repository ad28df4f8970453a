import type { HttpClient } from '../../support/http-client.ts';
import { clusterBody } from '../../support/possessions.ts';
import { filled } from './request.ts';
import type { Json } from './schemas.ts';

/** Returns the largest valid bodies, by operation, so that every rule of the domain has to process them. */
export async function largeBodies(http: HttpClient): Promise<Record<string, Json>> {
  const cluster = { ...(await clusterBody(http)), pools: filled(28, fullPool) };
  const virtual = filled(10, (n) => ({ ...VIRTUAL_POOL, name: `pool-${n}` }));
  const rules = filled(250, rule);
  return {
    createSecurityGroup: { security_group: { name: 'large', security_group_rules: rules, tags: tags(64) } },
    updateSecurityGroup: { changed_rules: filled(200, (n) => ({ action: 'create', ...rule(n) })) },
    createSecurityGroupByTask: { name: 'large too', rules },
    createKubernetesCluster: cluster,
    updateKubernetesCluster: {
      autoscaler_config: Object.fromEntries(filled(64, (n) => [`scan-interva${n}`, '10s'])),
    },
    previewKubernetesPrice: { pools: virtual },
    checkKubernetesClusterLimitsV2: { pools: virtual },
  };
}

const VIRTUAL_POOL = {
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

function fullPool(n: number) {
  const texts = (value: string) => Object.fromEntries(filled(64, (i) => [`name-${i}`, value]));
  return {
    ...VIRTUAL_POOL,
    name: `pool-${n}`,
    labels: texts('value'),
    taints: texts('value:NoSchedule'),
    crio_config: texts('nofile=1024:2048'),
    kubelet_config: texts('4096'),
  };
}

function rule(n: number) {
  return {
    direction: 'ingress',
    protocol: 'tcp',
    port_range_min: n + 1,
    port_range_max: n + 1,
    remote_ip_prefix: `10.${n >> 8}.${n & 255}.0/24`,
  };
}

function tags(count: number) {
  return Object.fromEntries(filled(count, (n) => [`tag-${n}`, 'v'.repeat(255)]));
}
