import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { firstPlace } from './lib/place.ts';
import { parseSearch, type Search, stringifySearch } from './lib/search.ts';
import { Frame } from './pages/frame.tsx';
import { NotFound } from './pages/not-found.tsx';

const root = createRootRoute({
  validateSearch: (given: Record<string, unknown>) => given as Search,
  component: Frame,
  notFoundComponent: NotFound,
});

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async () => {
    redirect({ to: '/p/$project/r/$region', params: await firstPlace(), throw: true });
  },
});

/** Pages of one project in one region. */
const place = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/r/$region',
  params: {
    parse: ({ project, region }) => ({ project: wholeNumber(project), region: wholeNumber(region) }),
    stringify: ({ project, region }) => ({ project: String(project), region: String(region) }),
  },
});

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${text} is no ID`);
  return number;
}

const overview = createRoute({
  getParentRoute: () => place,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview.tsx'), 'Overview'),
});
const clusters = createRoute({
  getParentRoute: () => place,
  path: 'clusters',
  component: lazyRouteComponent(() => import('./pages/kubernetes/clusters.tsx'), 'Clusters'),
});
const createCluster = createRoute({
  getParentRoute: () => place,
  path: 'create-cluster',
  component: lazyRouteComponent(() => import('./pages/kubernetes/create.tsx'), 'CreateClusterPage'),
});
const cluster = createRoute({
  getParentRoute: () => place,
  path: 'clusters/$cluster',
  component: lazyRouteComponent(() => import('./pages/kubernetes/cluster.tsx'), 'ClusterPage'),
});
const securityGroups = createRoute({
  getParentRoute: () => place,
  path: 'security-groups',
  component: lazyRouteComponent(() => import('./pages/network/groups.tsx'), 'SecurityGroups'),
});
const securityGroup = createRoute({
  getParentRoute: () => place,
  path: 'security-groups/$group',
  component: lazyRouteComponent(() => import('./pages/network/group.tsx'), 'SecurityGroup'),
});
const reachability = createRoute({
  getParentRoute: () => place,
  path: 'reachability',
  component: lazyRouteComponent(() => import('./pages/network/reachability.tsx'), 'Reachability'),
});
const matrix = createRoute({
  getParentRoute: () => place,
  path: 'reachability/matrix',
  component: lazyRouteComponent(() => import('./pages/network/matrix.tsx'), 'Matrix'),
});
const networks = createRoute({
  getParentRoute: () => place,
  path: 'networks',
  component: lazyRouteComponent(() => import('./pages/network/networks.tsx'), 'Networks'),
});
const network = createRoute({
  getParentRoute: () => place,
  path: 'networks/$network',
  component: lazyRouteComponent(() => import('./pages/network/networks.tsx'), 'NetworkPage'),
});
const topology = createRoute({
  getParentRoute: () => place,
  path: 'topology',
  component: lazyRouteComponent(() => import('./pages/network/topology.tsx'), 'Topology'),
});
const floatingIps = createRoute({
  getParentRoute: () => place,
  path: 'floating-ips',
  component: lazyRouteComponent(() => import('./pages/network/addresses.tsx'), 'FloatingIps'),
});
const reservedIps = createRoute({
  getParentRoute: () => place,
  path: 'reserved-ips',
  component: lazyRouteComponent(() => import('./pages/network/addresses.tsx'), 'ReservedIps'),
});
const routers = createRoute({
  getParentRoute: () => place,
  path: 'routers',
  component: lazyRouteComponent(() => import('./pages/network/routers.tsx'), 'Routers'),
});
const loadBalancers = createRoute({
  getParentRoute: () => place,
  path: 'load-balancers',
  component: lazyRouteComponent(() => import('./pages/network/load-balancers.tsx'), 'LoadBalancers'),
});
const loadBalancer = createRoute({
  getParentRoute: () => place,
  path: 'load-balancers/$balancer',
  component: lazyRouteComponent(() => import('./pages/network/load-balancers.tsx'), 'LoadBalancerPage'),
});
const instances = createRoute({
  getParentRoute: () => place,
  path: 'instances',
  component: lazyRouteComponent(() => import('./pages/compute/instances.tsx'), 'Instances'),
});
const newInstance = createRoute({
  getParentRoute: () => place,
  path: 'instances/new',
  component: lazyRouteComponent(() => import('./pages/compute/new-instance.tsx'), 'NewInstance'),
});
const instance = createRoute({
  getParentRoute: () => place,
  path: 'instances/$instance',
  component: lazyRouteComponent(() => import('./pages/compute/instance.tsx'), 'InstancePage'),
});
const tasks = createRoute({
  getParentRoute: () => place,
  path: 'tasks',
  component: lazyRouteComponent(() => import('./pages/tasks.tsx'), 'Tasks'),
});
const task = createRoute({
  getParentRoute: () => place,
  path: 'tasks/$task',
  component: lazyRouteComponent(() => import('./pages/tasks.tsx'), 'TaskPage'),
});

const volumes = createRoute({
  getParentRoute: () => place,
  path: 'volumes',
  component: lazyRouteComponent(() => import('./pages/storage/volumes.tsx'), 'Volumes'),
});
const newVolume = createRoute({
  getParentRoute: () => place,
  path: 'volumes/new',
  component: lazyRouteComponent(() => import('./pages/storage/new-volume.tsx'), 'NewVolume'),
});
const volume = createRoute({
  getParentRoute: () => place,
  path: 'volumes/$volume',
  component: lazyRouteComponent(() => import('./pages/storage/volume.tsx'), 'VolumePage'),
});
const snapshots = createRoute({
  getParentRoute: () => place,
  path: 'snapshots',
  component: lazyRouteComponent(() => import('./pages/storage/snapshots.tsx'), 'Snapshots'),
});
const fileShares = createRoute({
  getParentRoute: () => place,
  path: 'file-shares',
  component: lazyRouteComponent(() => import('./pages/storage/file-shares.tsx'), 'FileShares'),
});
const images = createRoute({
  getParentRoute: () => place,
  path: 'images',
  component: lazyRouteComponent(() => import('./pages/storage/images.tsx'), 'Images'),
});
const sshKeys = createRoute({
  getParentRoute: () => place,
  path: 'ssh-keys',
  component: lazyRouteComponent(() => import('./pages/ssh-keys.tsx'), 'SshKeys'),
});
const secrets = createRoute({
  getParentRoute: () => place,
  path: 'secrets',
  component: lazyRouteComponent(() => import('./pages/secrets.tsx'), 'Secrets'),
});
const storage = [volumes, newVolume, volume, snapshots, fileShares, images, sshKeys, secrets] as const;

const aiTasks = createRoute({
  getParentRoute: () => root,
  path: '/ai-tasks',
  component: lazyRouteComponent(() => import('./pages/ai/tasks.tsx'), 'AiTasks'),
});
const newAiTask = createRoute({
  getParentRoute: () => root,
  path: '/ai-tasks/new',
  component: lazyRouteComponent(() => import('./pages/ai/new-task.tsx'), 'NewAiTask'),
});
const aiTask = createRoute({
  getParentRoute: () => root,
  path: '/ai-tasks/$task',
  component: lazyRouteComponent(() => import('./pages/ai/task.tsx'), 'AiTaskPage'),
});

const operations = createRoute({
  getParentRoute: () => root,
  path: '/operations',
  component: lazyRouteComponent(() => import('./pages/operations.tsx'), 'Operations'),
});
const operation = createRoute({
  getParentRoute: () => root,
  path: '/operations/$operation',
  component: lazyRouteComponent(() => import('./pages/operations.tsx'), 'OperationPage'),
});

/* Pages of the account and of administration. */
const accountProjects = createRoute({
  getParentRoute: () => root,
  path: '/account/projects',
  component: lazyRouteComponent(() => import('./pages/account/projects.tsx'), 'Projects'),
});
const accountQuotas = createRoute({
  getParentRoute: () => root,
  path: '/account/quotas',
  component: lazyRouteComponent(() => import('./pages/account/quotas.tsx'), 'Quotas'),
});
const accountCosts = createRoute({
  getParentRoute: () => root,
  path: '/account/costs',
  component: lazyRouteComponent(() => import('./pages/account/costs.tsx'), 'Costs'),
});
const accountPrices = createRoute({
  getParentRoute: () => root,
  path: '/account/prices',
  component: lazyRouteComponent(() => import('./pages/account/prices.tsx'), 'Prices'),
});
const accountUsers = createRoute({
  getParentRoute: () => root,
  path: '/account/users',
  component: lazyRouteComponent(() => import('./pages/account/users.tsx'), 'Users'),
});
const accountUser = createRoute({
  getParentRoute: () => root,
  path: '/account/users/$user',
  component: lazyRouteComponent(() => import('./pages/account/users.tsx'), 'UserPage'),
});
const accountTokens = createRoute({
  getParentRoute: () => root,
  path: '/account/tokens',
  component: lazyRouteComponent(() => import('./pages/account/tokens.tsx'), 'Tokens'),
});
const accountLogins = createRoute({
  getParentRoute: () => root,
  path: '/account/logins',
  component: lazyRouteComponent(() => import('./pages/account/logins.tsx'), 'Logins'),
});
const accountAudit = createRoute({
  getParentRoute: () => root,
  path: '/account/audit',
  component: lazyRouteComponent(() => import('./pages/account/audit.tsx'), 'Audit'),
});
const accountWebhooks = createRoute({
  getParentRoute: () => root,
  path: '/account/webhooks',
  component: lazyRouteComponent(() => import('./pages/account/webhooks.tsx'), 'Webhooks'),
});
const accountWebhook = createRoute({
  getParentRoute: () => root,
  path: '/account/webhooks/$webhook',
  component: lazyRouteComponent(() => import('./pages/account/webhooks.tsx'), 'WebhookPage'),
});
const accountDelivery = createRoute({
  getParentRoute: () => root,
  path: '/account/webhooks/$webhook/deliveries/$delivery',
  component: lazyRouteComponent(() => import('./pages/account/webhooks.tsx'), 'DeliveryPage'),
});
const accountFeatures = createRoute({
  getParentRoute: () => root,
  path: '/account/features',
  component: lazyRouteComponent(() => import('./pages/account/features.tsx'), 'Features'),
});
const adminClients = createRoute({
  getParentRoute: () => root,
  path: '/admin/clients',
  component: lazyRouteComponent(() => import('./pages/admin/clients.tsx'), 'Clients'),
});
const adminClient = createRoute({
  getParentRoute: () => root,
  path: '/admin/clients/$client',
  component: lazyRouteComponent(() => import('./pages/admin/client.tsx'), 'ClientPage'),
});
const adminResellers = createRoute({
  getParentRoute: () => root,
  path: '/admin/resellers',
  component: lazyRouteComponent(() => import('./pages/admin/resellers.tsx'), 'Resellers'),
});
const adminPriceLists = createRoute({
  getParentRoute: () => root,
  path: '/admin/prices',
  component: lazyRouteComponent(() => import('./pages/admin/price-lists.tsx'), 'PriceLists'),
});
const adminNotifications = createRoute({
  getParentRoute: () => root,
  path: '/admin/notifications',
  component: lazyRouteComponent(() => import('./pages/admin/notifications.tsx'), 'Notifications'),
});
const adminProducts = createRoute({
  getParentRoute: () => root,
  path: '/admin/products',
  component: lazyRouteComponent(() => import('./pages/admin/products.tsx'), 'DefaultProducts'),
});
const adminTest = createRoute({
  getParentRoute: () => root,
  path: '/admin/test',
  component: lazyRouteComponent(() => import('./pages/admin/test-kit.tsx'), 'TestKit'),
});

export const router = createRouter({
  basepath: '/console',
  routeTree: root.addChildren([
    start,
    operations,
    operation,
    accountProjects,
    accountQuotas,
    accountCosts,
    accountPrices,
    accountUsers,
    accountUser,
    accountTokens,
    accountLogins,
    accountAudit,
    accountWebhooks,
    accountWebhook,
    accountDelivery,
    accountFeatures,
    adminClients,
    adminClient,
    adminResellers,
    adminPriceLists,
    adminNotifications,
    adminProducts,
    adminTest,
    aiTasks,
    newAiTask,
    aiTask,
    place.addChildren([
      overview,
      clusters,
      createCluster,
      cluster,
      securityGroups,
      securityGroup,
      reachability,
      matrix,
      networks,
      network,
      topology,
      floatingIps,
      reservedIps,
      routers,
      loadBalancers,
      loadBalancer,
      instances,
      newInstance,
      instance,
      tasks,
      task,
      ...storage,
    ]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
