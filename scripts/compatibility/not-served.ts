const P = '{project_id}/{region_id}';
const PRICING = `/cloud/v1/pricing/${P}`;
const PRICING_V2 = `/cloud/v2/pricing/${P}`;

interface Family {
  family: string;
  /** The beginnings of the paths. */
  paths: readonly string[];
}

/**
 * Families of the published contract or the official clients that Tradewind doesn't have: all of these calls
 * are 404.
 */
export const NOT_SERVED: readonly Family[] = [
  { family: 'Application templates', paths: ['/cloud/v1/apptemplates'] },
  { family: 'Bare metal servers', paths: ['/cloud/v1/bminstances'] },
  { family: 'GPU and AI clusters', paths: ['/cloud/v3/gpu', '/cloud/v1/ai/clusters'] },
  { family: 'Inference', paths: ['/cloud/v3/inference'] },
  {
    family: 'Containers as a service, container registry',
    paths: ['/cloud/v1/caas', '/cloud/v1/registries'],
  },
  { family: 'Functions', paths: ['/cloud/v1/faas', '/fastedge'] },
  { family: 'Managed databases', paths: ['/cloud/v1/dbaas'] },
  {
    family: 'Schedules and lifecycle policies',
    paths: ['/cloud/v1/schedule', '/cloud/v1/lifecycle_policies'],
  },
  {
    family: 'Prices of what is not served itself',
    paths: [
      ...['ai/clusters', 'caas', 'faas', 'lifecycle_policy'].map((of) => `${PRICING}/${of}`),
      '/cloud/v2/pricing/inference',
      ...['gpu', 'lifecycle_policy'].map((of) => `${PRICING_V2}/${of}`),
    ],
  },
  {
    family: 'Reservations',
    paths: ['/cloud/v1/reservations'],
  },
  { family: 'Roles in single projects', paths: ['/cloud/v1/users/assignments'] },
  {
    family: 'Sellers, availability of products, settings and documents of resellers',
    paths: [
      '/iam/admin/sellers',
      '/iam/products/availability',
      '/iam/reselling/settings',
      '/iam/docs/platform',
    ],
  },
  { family: 'CDN', paths: ['/cdn'] },
  { family: 'DNS', paths: ['/dns'] },
  { family: 'Object storage', paths: ['/storage'] },
  { family: 'Web application protection', paths: ['/waap'] },
  { family: 'Live streams and videos', paths: ['/streaming/streams', '/streaming/videos'] },
];
