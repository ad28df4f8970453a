import type { HttpClient } from '../../support/http-client.ts';
import { clusterBody } from '../../support/possessions.ts';
import { filled } from './request.ts';
import type { Json } from './schemas.ts';

/** Returns valid bodies that examples don't lead to, by operation: large ones, and those that name what is there. */
export async function largeBodies(http: HttpClient): Promise<Record<string, Json>> {
  const cluster = async () => ({ ...(await clusterBody(http)), pools: filled(28, fullPool) });
  const rules = filled(250, rule);
  const networks = await http.get('/cloud/v1/networks/1/1?name=default');
  const images = await http.get('/cloud/v1/images/1/1');
  return {
    createSecurityGroup: { security_group: { name: 'large', security_group_rules: rules, tags: tags(64) } },
    updateSecurityGroup: { changed_rules: filled(200, (n) => ({ action: 'create', ...rule(n) })) },
    createSecurityGroupByTask: { name: 'large too', rules },
    createKubernetesCluster: await cluster(),
    createKubernetesClusterV2: await cluster(),
    activateFreeFeature: { client_id: 1, feature_id: 6 },
    // Nothing else is made there.
    beginMaintenance: { region_id: 2, reason: 'new switches' },
    createInstance: {
      name: 'large',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: networks.body.results[0].id }],
      volumes: [{ source: 'image', image_id: images.body.results[0].id, size: 20 }],
    },
  };
}

const VIRTUAL_POOL = {
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

/** Nearly every setting that there is. */
const CRIO_SETTINGS = {
  'ctr-stop-timeout': '30',
  'default-env': filled(70, (n) => `NAME_${n}=value`).join(),
  'default-sysctls': filled(50, (n) => `net.ipv4.name_${n}=1`).join(),
  'default-ulimits': filled(60, () => 'nofile=1024:2048').join(),
  'image-volumes': 'mkdir',
  'insecure-registry': filled(35, (n) => `registry-${n}.example.com:5000`).join(),
  'log-level': 'info',
  'log-size-max': '8192',
  'pids-limit': '4096',
  'read-only': 'false',
  registry: filled(40, (n) => `registry-${n}.example.com`).join(),
};
const KUBELET_SETTINGS = {
  allowedUnsafeSysctls: filled(50, (n) => `net.ipv4.name_${n}`).join(),
  containerLogMaxFiles: '5',
  containerLogMaxSize: '10Mi',
  cpuCFSQuota: 'true',
  cpuManagerPolicy: 'none',
  evictionMaxPodGracePeriod: '60',
  imageGCHighThresholdPercent: '85',
  imageGCLowThresholdPercent: '80',
  imageMaximumGCAge: '48h',
  imageMinimumGCAge: '2m',
  maxPods: '110',
  podMaxPids: '4096',
  podsPerCore: '10',
  shutdownGracePeriod: '30s',
  shutdownGracePeriodCriticalPods: '10s',
  topologyManagerPolicy: 'none',
  topologyManagerScope: 'container',
};

function fullPool(n: number) {
  const texts = (value: string) => Object.fromEntries(filled(64, (i) => [`name-${i}`, value]));
  return {
    ...VIRTUAL_POOL,
    name: `pool-${n}`,
    labels: texts('value'),
    taints: texts('value:NoSchedule'),
    crio_config: CRIO_SETTINGS,
    kubelet_config: KUBELET_SETTINGS,
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
