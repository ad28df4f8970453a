import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { AUTOSCALER, autoscalerAccess } from './autoscaler-access.ts';
import { autoscalerFlags } from './autoscaler-flags.ts';
import { groupsOf, minorOf } from './groups.ts';
import { imageOf } from './images.ts';
import {
  hashed,
  type KubernetesObject,
  type Rendering,
  rendering,
  STEADY_SECONDS,
  SYSTEM_NAMESPACE,
} from './objects.ts';

export const usesExpander = (name: string, overrides: Readonly<Record<string, string>> = {}): boolean =>
  overrides.expander?.split(',').includes(name) ?? false;

/** Renders the cluster autoscaler, which every cluster has. Its parameters are flags. */
export function autoscaler(spec: ClusterSpec, platform: Platform): Rendering {
  const overrides = groupsOf(spec).autoscaler_config ?? {};
  const minor = minorOf(spec);
  const url = platform.grpc_expander_url;
  const flags = [
    ...platform.autoscalerArguments,
    ...(usesExpander('grpc', overrides) && url !== undefined ? [`--grpc-expander-url=${url}`] : []),
    `--namespace=${SYSTEM_NAMESPACE}`,
    ...autoscalerFlags(overrides, minor),
  ];
  return rendering({
    objects: [...autoscalerAccess(), deployment(flags, imageOf('cluster-autoscaler', platform, `v1.${minor}.0`))],
    once: usesExpander('priority', overrides) ? [priorities()] : [],
  });
}

function deployment(flags: string[], image: string): KubernetesObject {
  const labels = { app: AUTOSCALER };
  const container = {
    name: AUTOSCALER,
    image,
    command: ['./cluster-autoscaler'],
    args: flags,
    ports: [{ name: 'metrics', containerPort: 8085, protocol: 'TCP' }],
    resources: { requests: { cpu: '100m', memory: '300Mi' } },
    // The reason of a crash is the end of its log, which people then read in the task.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: AUTOSCALER, namespace: SYSTEM_NAMESPACE, labels },
    spec: {
      replicas: 1,
      progressDeadlineSeconds: 120,
      minReadySeconds: STEADY_SECONDS,
      selector: { matchLabels: labels },
      // The former one stays until the new one is there; they elect a leader.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels, annotations: hashed(flags, image) },
        spec: {
          serviceAccountName: AUTOSCALER,
          priorityClassName: 'system-cluster-critical',
          // Pools may all have taints, and the autoscaler must run on one of them.
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          containers: [container],
        },
      },
    },
  };
}

/** Without this ConfigMap the expander chooses at random. All pools are equal until the owner says otherwise. */
function priorities(): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${AUTOSCALER}-priority-expander`, namespace: SYSTEM_NAMESPACE },
    data: { priorities: '10:\n  - .*\n' },
  };
}
