import { type KubernetesObject, SYSTEM_NAMESPACE } from './objects.ts';

export const AUTOSCALER = 'cluster-autoscaler';

const READ = ['get', 'list', 'watch'];

/** What the autoscaler may do, as in the example manifests of its repository. */
const RULES = [
  { apiGroups: [''], resources: ['events', 'endpoints'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['nodes'], verbs: [...READ, 'update', 'delete'] },
  {
    apiGroups: [''],
    resources: [
      'namespaces',
      'persistentvolumeclaims',
      'persistentvolumes',
      'pods',
      'replicationcontrollers',
      'services',
    ],
    verbs: READ,
  },
  { apiGroups: ['apps'], resources: ['daemonsets', 'replicasets', 'statefulsets'], verbs: READ },
  { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs: READ },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list', 'watch'] },
  {
    apiGroups: ['storage.k8s.io'],
    resources: ['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'],
    verbs: READ,
  },
  {
    apiGroups: ['resource.k8s.io'],
    resources: ['deviceclasses', 'resourceclaims', 'resourceslices'],
    verbs: READ,
  },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
];

/** In its own namespace: its status, its priorities and its election. */
const LOCAL_RULES = [
  { apiGroups: [''], resources: ['configmaps'], verbs: [...READ, 'create', 'update', 'delete'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [AUTOSCALER],
    verbs: ['get', 'update'],
  },
];

export function autoscalerAccess(): KubernetesObject[] {
  const metadata = { name: AUTOSCALER };
  const local = { name: AUTOSCALER, namespace: SYSTEM_NAMESPACE };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'ServiceAccount', ...local }];
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: AUTOSCALER });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    { apiVersion, kind: 'ClusterRole', metadata, rules: RULES },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, subjects, roleRef: roleRef('ClusterRole') },
    { apiVersion, kind: 'Role', metadata: local, rules: LOCAL_RULES },
    { apiVersion, kind: 'RoleBinding', metadata: local, subjects, roleRef: roleRef('Role') },
  ];
}
