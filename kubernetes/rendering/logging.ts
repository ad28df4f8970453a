import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { groupsOf } from './groups.ts';
import { imageOf } from './images.ts';
import {
  hashed,
  type KubernetesObject,
  type ObjectName,
  onlyIf,
  type Rendering,
  STEADY_SECONDS,
  SYSTEM_NAMESPACE,
} from './objects.ts';

const STATE = '/var/lib/fluent-bit';
/** The agent replaces it by the variable of that name. */
const variable = (name: string): string => `$\{${name}}`;

/** Returns the files of the agent: logs of containers and of the nodes' services, sent to a topic of Kafka. */
export function fluentBitConfig({ brokers, topic }: { brokers: readonly string[]; topic: string }) {
  return {
    'fluent-bit.conf': [
      section('SERVICE', { Flush: '5', Log_Level: 'warning', HTTP_Server: 'Off' }),
      section('INPUT', {
        Name: 'tail',
        Tag: 'kube.*',
        Path: '/var/log/containers/*.log',
        'multiline.parser': 'docker, cri',
        DB: `${STATE}/containers.db`,
        Mem_Buf_Limit: '32MB',
        Skip_Long_Lines: 'On',
      }),
      section('INPUT', {
        Name: 'systemd',
        Tag: 'host.*',
        Systemd_Filter: '_SYSTEMD_UNIT=kubelet.service',
        Read_From_Tail: 'On',
        DB: `${STATE}/systemd.db`,
      }),
      section('FILTER', { Name: 'kubernetes', Match: 'kube.*', Merge_Log: 'On', Keep_Log: 'Off' }),
      section('OUTPUT', {
        Name: 'kafka',
        Match: '*',
        Brokers: brokers.join(','),
        Topics: topic,
        Timestamp_Key: '@timestamp',
        Timestamp_Format: 'iso8601',
        Retry_Limit: 'no_limits',
        'rdkafka.security.protocol': 'SASL_SSL',
        'rdkafka.sasl.mechanism': 'SCRAM-SHA-512',
        'rdkafka.sasl.username': variable('KAFKA_USERNAME'),
        'rdkafka.sasl.password': variable('KAFKA_PASSWORD'),
      }),
    ].join('\n'),
  };
}

function section(name: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([key, value]) => `    ${key} ${value}`);
  return `[${name}]\n${lines.join('\n')}\n`;
}

const NAME = 'tradewind-fluent-bit';
const local = { name: NAME, namespace: SYSTEM_NAMESPACE };
const RBAC = 'rbac.authorization.k8s.io/v1';

const NAMES: ObjectName[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', ...local },
  { apiVersion: RBAC, kind: 'ClusterRole', name: NAME },
  { apiVersion: RBAC, kind: 'ClusterRoleBinding', name: NAME },
  { apiVersion: 'v1', kind: 'Secret', ...local },
  { apiVersion: 'v1', kind: 'ConfigMap', ...local },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', ...local },
];

/**
 * Renders an agent on each node that sends logs to a topic. Without logging it goes; the topic and its data stay.
 * How long logs are kept is the topic's business, not the agent's.
 */
export function logging(spec: ClusterSpec, platform: Platform): Rendering {
  const wanted = groupsOf(spec).logging;
  const service = platform.log_forwarding;
  const brokers = service?.brokers[String(wanted?.destination_region_id)];
  const topic = wanted?.topic_name;
  if (!wanted?.enabled || !service || !brokers || topic === undefined) return onlyIf(false, () => [], NAMES);
  const { namespace, username, password } = service;
  const config = fluentBitConfig({
    brokers,
    topic: namespace === undefined ? topic : `${namespace}.${topic}`,
  });
  return onlyIf(true, () => objects(config, { username, password }, imageOf('fluent-bit', platform)), NAMES);
}

function objects(
  config: Record<string, string>,
  login: { username: string; password: string },
  image: string,
): KubernetesObject[] {
  const labels = { app: NAME };
  const metadata = { name: NAME };
  const env = (['username', 'password'] as const).map((key) => ({
    name: `KAFKA_${key.toUpperCase()}`,
    valueFrom: { secretKeyRef: { name: NAME, key } },
  }));
  const container = {
    name: 'fluent-bit',
    image,
    args: ['--config=/fluent-bit/etc/conf/fluent-bit.conf'],
    env,
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'config', mountPath: '/fluent-bit/etc/conf', readOnly: true },
      { name: 'logs', mountPath: '/var/log', readOnly: true },
      // Where the agent remembers how far it has read.
      { name: 'state', mountPath: '/var/lib/fluent-bit' },
    ],
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    {
      apiVersion: RBAC,
      kind: 'ClusterRole',
      metadata,
      rules: [{ apiGroups: [''], resources: ['namespaces', 'pods'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', ...local }],
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: local,
      type: 'Opaque',
      data: { username: base64(login.username), password: base64(login.password) },
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: local, data: config },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...local, labels },
      spec: {
        selector: { matchLabels: labels },
        minReadySeconds: STEADY_SECONDS,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
        template: {
          metadata: { labels, annotations: hashed(config, login, image) },
          spec: {
            serviceAccountName: NAME,
            tolerations: [{ operator: 'Exists' }],
            containers: [container],
            volumes: [
              { name: 'config', configMap: { name: NAME } },
              { name: 'logs', hostPath: { path: '/var/log' } },
              { name: 'state', hostPath: { path: '/var/lib/fluent-bit', type: 'DirectoryOrCreate' } },
            ],
          },
        },
      },
    },
  ];
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
