import type { Platform } from '../platform.ts';
import { imageOf } from './images.ts';
import type { KubernetesObject, ObjectName } from './objects.ts';

/** The last line of Soperator that runs on Kubernetes 1.31 and counts workers in the cluster itself. */
const RELEASE = '1.20.1';
const IMAGE_TAG = `${RELEASE}-jammy-slurm24.11.5`;
const GPU = 'gpu';
const NO_GPU = 'no-gpu';
/** Set by NVIDIA's feature discovery on each node with a GPU. */
const GPU_LABEL = 'nvidia.com/gpu.present';

/** Each worker has a node of its own, however many GPUs the node has. */
const APART = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    {
      labelSelector: { matchLabels: { 'app.kubernetes.io/component': 'worker' } },
      topologyKey: 'kubernetes.io/hostname',
    },
  ],
};

/** Renders the SlurmCluster with the members that Soperator's own chart sets, and its sizes. */
export function slurmCluster(
  { apiVersion, kind, ...metadata }: ObjectName,
  { workers, gpus, publicKeys }: { workers: number; gpus: number; publicKeys: string[] },
  platform: Platform,
): KubernetesObject {
  const image = (name: string) => `${imageOf('slurm', platform)}/${name}:${IMAGE_TAG}`;
  const munge = { image: image('munge'), resources: resources('500m', '1Gi', '5Gi') };
  const jail = { volumeSourceName: 'jail' };
  const spool = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '128Gi' } } };
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      crVersion: RELEASE,
      clusterType: 'gpu',
      k8sNodeFilters: [
        {
          name: GPU,
          affinity: { ...nodesWith('Exists'), podAntiAffinity: APART },
          tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
        },
        { name: NO_GPU, affinity: nodesWith('DoesNotExist') },
      ],
      volumeSources: ['controller-spool', 'jail'].map((name) => ({
        name,
        persistentVolumeClaim: { claimName: name },
      })),
      secrets: {},
      populateJail: { image: image('populate_jail'), k8sNodeFilterName: GPU },
      periodicChecks: {
        ncclBenchmark: { enabled: false, image: image('nccl_benchmark'), k8sNodeFilterName: NO_GPU },
      },
      slurmNodes: {
        accounting: { enabled: false, k8sNodeFilterName: NO_GPU },
        controller: {
          size: 1,
          k8sNodeFilterName: NO_GPU,
          slurmctld: {
            image: image('controller_slurmctld'),
            port: 6817,
            resources: resources('1', '3Gi', '20Gi'),
          },
          munge,
          volumes: { spool: { volumeSourceName: 'controller-spool' }, jail },
        },
        worker: {
          size: workers,
          k8sNodeFilterName: GPU,
          cgroupVersion: 'v2',
          slurmd: {
            image: image('worker_slurmd'),
            port: 6818,
            resources: { ...resources('4', '16Gi', '50Gi'), 'nvidia.com/gpu': String(gpus) },
          },
          munge,
          // Of each worker its own, so it can't be a folder of the share.
          volumes: { spool: { volumeClaimTemplateSpec: spool }, jail },
        },
        login: {
          size: 1,
          k8sNodeFilterName: NO_GPU,
          sshd: { image: image('login_sshd'), port: 22, resources: resources('1', '4Gi', '30Gi') },
          munge,
          sshRootPublicKeys: publicKeys,
          sshdServiceType: 'LoadBalancer',
          volumes: { jail },
        },
        exporter: {
          enabled: false,
          size: 1,
          k8sNodeFilterName: NO_GPU,
          exporterContainer: { image: image('soperator-exporter') },
        },
        rest: { enabled: false, size: 1, k8sNodeFilterName: NO_GPU, rest: { image: image('slurmrestd') } },
      },
    },
  };
}

function resources(cpu: string, memory: string, storage: string): Record<string, string> {
  return { cpu, memory, 'ephemeral-storage': storage };
}

function nodesWith(operator: 'DoesNotExist' | 'Exists'): object {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: GPU_LABEL, operator }] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}
