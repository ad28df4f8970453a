import type { Platform } from '../platform.ts';
import type { Cilium } from './groups.ts';
import { imageOf } from './images.ts';
import {
  combined,
  hashed,
  type KubernetesObject,
  type ObjectName,
  onlyIf,
  type Rendering,
  SYSTEM_NAMESPACE,
} from './objects.ts';

const RELAY = 'hubble-relay';
const UI = 'hubble-ui';
const RELAY_PORT = 4245;

const local = (name: string) => ({ name, namespace: SYSTEM_NAMESPACE });
const service = (name: string): ObjectName => ({ apiVersion: 'v1', kind: 'Service', ...local(name) });
const configMap = (name: string): ObjectName => ({ apiVersion: 'v1', kind: 'ConfigMap', ...local(name) });
const deploymentName = (name: string): ObjectName => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  ...local(name),
});
const rbac = (kind: string): ObjectName => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, name: UI });

const RELAY_NAMES = [configMap(`${RELAY}-config`), service('hubble-peer'), service(RELAY), deploymentName(RELAY)];
const UI_NAMES = [
  { apiVersion: 'v1', kind: 'ServiceAccount', ...local(UI) },
  rbac('ClusterRole'),
  rbac('ClusterRoleBinding'),
  configMap(`${UI}-nginx`),
  service(UI),
  deploymentName(UI),
];

/** Renders Hubble Relay, which asks the agents of all nodes, and its web page. Both without TLS, inside the cluster. */
export function hubble(cilium: Cilium, platform: Platform): Rendering {
  return combined([
    onlyIf(cilium.hubble_relay, () => relay(platform), RELAY_NAMES),
    onlyIf(cilium.hubble_ui, () => ui(platform), UI_NAMES),
  ]);
}

function relay(platform: Platform): KubernetesObject[] {
  const [config, peer, own, pods] = RELAY_NAMES.map(objectOf) as Four;
  const data = {
    'config.yaml': [
      'cluster-name: default',
      `peer-service: hubble-peer.${SYSTEM_NAMESPACE}.svc.cluster.local:80`,
      `listen-address: :${RELAY_PORT}`,
      'disable-server-tls: true',
      'disable-client-tls: true',
      '',
    ].join('\n'),
  };
  const container = {
    name: RELAY,
    image: imageOf('hubble-relay', platform),
    command: ['hubble-relay'],
    args: ['serve'],
    ports: [{ name: 'grpc', containerPort: RELAY_PORT }],
    readinessProbe: { grpc: { port: 4222 }, timeoutSeconds: 3 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/hubble-relay', readOnly: true }],
  };
  return [
    { ...config, data },
    {
      ...peer,
      spec: {
        selector: { 'k8s-app': 'cilium' },
        internalTrafficPolicy: 'Local',
        ports: [{ name: 'peer-service', port: 80, protocol: 'TCP', targetPort: 4244 }],
      },
    },
    serving(own, RELAY, RELAY_PORT),
    workload(pods, hashed(data), [container], {
      volumes: [{ name: 'config', configMap: { name: `${RELAY}-config` } }],
    }),
  ];
}

function ui(platform: Platform): KubernetesObject[] {
  const [account, role, binding, nginx, own, pods] = UI_NAMES.map(objectOf) as Six;
  const data = { 'default.conf': NGINX };
  const frontend = {
    name: 'frontend',
    image: imageOf('hubble-ui', platform),
    ports: [{ name: 'http', containerPort: 8081 }],
    volumeMounts: [
      { name: 'nginx', mountPath: '/etc/nginx/conf.d/default.conf', subPath: 'default.conf' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  const backend = {
    name: 'backend',
    image: imageOf('hubble-ui-backend', platform),
    env: [
      { name: 'EVENTS_SERVER_PORT', value: '8090' },
      { name: 'FLOWS_API_ADDR', value: `${RELAY}:80` },
    ],
    ports: [{ name: 'grpc', containerPort: 8090 }],
  };
  return [
    account,
    { ...role, rules: UI_RULES },
    {
      ...binding,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: UI },
      subjects: [{ kind: 'ServiceAccount', ...local(UI) }],
    },
    { ...nginx, data },
    serving(own, UI, 8081),
    workload(pods, hashed(data), [frontend, backend], {
      serviceAccountName: UI,
      volumes: [
        { name: 'nginx', configMap: { name: `${UI}-nginx` } },
        { name: 'tmp', emptyDir: {} },
      ],
    }),
  ];
}

type O = KubernetesObject;
type Four = [O, O, O, O];
type Six = [O, O, O, O, O, O];

function objectOf({ apiVersion, kind, ...metadata }: ObjectName): KubernetesObject {
  return { apiVersion, kind, metadata };
}

function serving(object: O, app: string, targetPort: number): O {
  const ports = [{ port: 80, protocol: 'TCP', targetPort }];
  return { ...object, spec: { selector: { 'k8s-app': app }, ports } };
}

function workload(object: O, annotations: Record<string, string>, containers: object[], more: object): O {
  const labels = { 'k8s-app': object.metadata.name };
  return {
    ...object,
    spec: {
      replicas: 1,
      progressDeadlineSeconds: 300,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: { ...more, tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }], containers },
      },
    },
  };
}

const UI_RULES = [
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [''],
    resources: ['componentstatuses', 'endpoints', 'namespaces', 'nodes', 'pods', 'services'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: ['cilium.io'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
];

const NGINX = `server {
    listen       8081;
    server_name  localhost;
    root         /app;
    index        index.html;
    client_max_body_size 1G;
    location / {
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        location /api {
            proxy_http_version 1.1;
            proxy_pass_request_headers on;
            proxy_pass http://127.0.0.1:8090;
        }
        location / {
            try_files $uri $uri/ /index.html /index.html;
        }
    }
}
`;
