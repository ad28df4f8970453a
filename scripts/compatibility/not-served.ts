/** Families that the official clients know and Tradewind doesn't, and the paths that they call: all of these are 404. */
export const NOT_SERVED: readonly { family: string; paths: readonly string[] }[] = [
  {
    family: 'Load balancers, their listeners, pools and L7 policies',
    paths: ['/cloud/v1/loadbalancers', '/cloud/v1/lblisteners', '/cloud/v1/lbpools', '/cloud/v1/l7policies'],
  },
  { family: 'Routers', paths: ['/cloud/v1/routers'] },
  { family: 'Server groups (placement groups)', paths: ['/cloud/v1/servergroups'] },
  { family: 'Secrets', paths: ['/cloud/v1/secrets', '/cloud/v2/secrets'] },
  { family: 'Bare metal servers', paths: ['/cloud/v1/bminstances'] },
  { family: 'GPU and AI clusters', paths: ['/cloud/v3/gpu', '/cloud/v1/ai/clusters'] },
  { family: 'Inference', paths: ['/cloud/v3/inference'] },
  { family: 'Container registry', paths: ['/cloud/v1/registries'] },
  { family: 'Functions', paths: ['/cloud/v1/faas', '/fastedge'] },
  { family: 'Managed databases', paths: ['/cloud/v1/dbaas'] },
  {
    family: 'Schedules and lifecycle policies',
    paths: ['/cloud/v1/schedule', '/cloud/v1/lifecycle_policies'],
  },
  { family: 'DDoS profiles', paths: ['/cloud/v1/ddos/profiles'] },
  { family: 'Reading and requesting quotas', paths: ['/cloud/v2/client_quotas', '/cloud/v2/limits_request'] },
  {
    family: 'Cost and usage reports, reservations',
    paths: ['/cloud/v1/cost_report', '/cloud/v1/usage_report', '/cloud/v1/reservations'],
  },
  { family: 'Roles in single projects', paths: ['/cloud/v1/users/assignments'] },
  { family: 'CDN', paths: ['/cdn'] },
  { family: 'DNS', paths: ['/dns'] },
  { family: 'Object storage', paths: ['/storage'] },
  { family: 'Web application protection', paths: ['/waap'] },
  { family: 'Live streams and videos', paths: ['/streaming/streams', '/streaming/videos'] },
];
