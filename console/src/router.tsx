import type { QueryFunctionContext, QueryKey } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queries } from './lib/api.ts';
import { firstPlace, type Place } from './lib/place.ts';
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

type Query = { queryKey: QueryKey; queryFn(context: QueryFunctionContext): unknown };
/** A page, and what it reads at an address. Pages of the account have no place. */
type PageComponent<Where> = (() => ReactNode) & { reads?: (search: Search, place: Where) => Query };
/** Loads the page when it is first opened. */
type Load<Name extends string, Where = undefined> = () => Promise<Record<Name, PageComponent<Where>>>;
const inPlace = <const Path extends string, Name extends string>(path: Path, load: Load<Name, Place>, name: Name) =>
  createRoute({
    getParentRoute: () => place,
    path,
    component: lazyRouteComponent(load, name),
    beforeLoad: ({ preload, search, params }) => {
      if (!preload) readAhead(load, name, search, params as Place);
    },
  });
const ofAccount = <const Path extends string, Name extends string>(path: Path, load: Load<Name>, name: Name) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load, name),
    beforeLoad: ({ preload, search }) => {
      if (!preload) readAhead(load, name, search, undefined);
    },
  });

/** Asks for what a page reads before the page is there. If that fails, the page says so. */
function readAhead<Name extends string, Where>(load: Load<Name, Where>, name: Name, search: Search, at: Where): void {
  load()
    .then(({ [name]: { reads } }: Record<Name, PageComponent<Where>>) => reads && queries.query(reads(search, at)))
    .catch(() => undefined);
}

const inPlaces = [
  inPlace('/', () => import('./pages/overview.tsx'), 'Overview'),
  inPlace('clusters', () => import('./pages/kubernetes/clusters.tsx'), 'Clusters'),
  inPlace('create-cluster', () => import('./pages/kubernetes/create.tsx'), 'CreateClusterPage'),
  inPlace('clusters/$cluster', () => import('./pages/kubernetes/cluster.tsx'), 'ClusterPage'),
  inPlace('security-groups', () => import('./pages/network/groups.tsx'), 'SecurityGroups'),
  inPlace('security-groups/$group', () => import('./pages/network/group.tsx'), 'SecurityGroup'),
  inPlace('reachability', () => import('./pages/network/reachability.tsx'), 'Reachability'),
  inPlace('reachability/matrix', () => import('./pages/network/matrix.tsx'), 'Matrix'),
  inPlace('networks', () => import('./pages/network/networks.tsx'), 'Networks'),
  inPlace('networks/$network', () => import('./pages/network/networks.tsx'), 'NetworkPage'),
  inPlace('topology', () => import('./pages/network/topology.tsx'), 'Topology'),
  inPlace('floating-ips', () => import('./pages/network/addresses.tsx'), 'FloatingIps'),
  inPlace('reserved-ips', () => import('./pages/network/addresses.tsx'), 'ReservedIps'),
  inPlace('routers', () => import('./pages/network/routers.tsx'), 'Routers'),
  inPlace('load-balancers', () => import('./pages/network/load-balancers.tsx'), 'LoadBalancers'),
  inPlace('load-balancers/$balancer', () => import('./pages/network/load-balancers.tsx'), 'LoadBalancerPage'),
  inPlace('instances', () => import('./pages/compute/instances.tsx'), 'Instances'),
  inPlace('instances/new', () => import('./pages/compute/new-instance.tsx'), 'NewInstance'),
  inPlace('instances/$instance', () => import('./pages/compute/instance.tsx'), 'InstancePage'),
  inPlace('tasks', () => import('./pages/tasks.tsx'), 'Tasks'),
  inPlace('tasks/$task', () => import('./pages/tasks.tsx'), 'TaskPage'),
  inPlace('volumes', () => import('./pages/storage/volumes.tsx'), 'Volumes'),
  inPlace('volumes/new', () => import('./pages/storage/new-volume.tsx'), 'NewVolume'),
  inPlace('volumes/$volume', () => import('./pages/storage/volume.tsx'), 'VolumePage'),
  inPlace('snapshots', () => import('./pages/storage/snapshots.tsx'), 'Snapshots'),
  inPlace('file-shares/new', () => import('./pages/storage/new-file-share.tsx'), 'NewFileShare'),
  inPlace('file-shares', () => import('./pages/storage/file-shares.tsx'), 'FileShares'),
  inPlace('images/new', () => import('./pages/storage/new-image.tsx'), 'NewImage'),
  inPlace('images', () => import('./pages/storage/images.tsx'), 'Images'),
  inPlace('ssh-keys', () => import('./pages/ssh-keys.tsx'), 'SshKeys'),
  inPlace('secrets', () => import('./pages/secrets.tsx'), 'Secrets'),
] as const;
const ofAccounts = [
  ofAccount('/ai-tasks', () => import('./pages/ai/tasks.tsx'), 'AiTasks'),
  ofAccount('/ai-tasks/new', () => import('./pages/ai/new-task.tsx'), 'NewAiTask'),
  ofAccount('/ai-tasks/$task', () => import('./pages/ai/task.tsx'), 'AiTaskPage'),
  ofAccount('/operations', () => import('./pages/operations.tsx'), 'Operations'),
  ofAccount('/operations/$operation', () => import('./pages/operations.tsx'), 'OperationPage'),
  ofAccount('/account/projects', () => import('./pages/account/projects.tsx'), 'Projects'),
  ofAccount('/account/quotas', () => import('./pages/account/quotas.tsx'), 'Quotas'),
  ofAccount('/account/costs', () => import('./pages/account/costs.tsx'), 'Costs'),
  ofAccount('/account/invoices', () => import('./pages/account/invoices.tsx'), 'Invoices'),
  ofAccount('/account/invoices/$invoice', () => import('./pages/account/invoices.tsx'), 'InvoicePage'),
  ofAccount('/account/budgets', () => import('./pages/account/budgets.tsx'), 'Budgets'),
  ofAccount('/account/billing', () => import('./pages/account/billing.tsx'), 'Billing'),
  ofAccount('/account/prices', () => import('./pages/account/prices.tsx'), 'Prices'),
  ofAccount('/account/users', () => import('./pages/account/users.tsx'), 'Users'),
  ofAccount('/account/users/$user', () => import('./pages/account/users.tsx'), 'UserPage'),
  ofAccount('/account/sign-in', () => import('./pages/account/sign-in.tsx'), 'SignIn'),
  ofAccount('/account/tokens', () => import('./pages/account/tokens.tsx'), 'Tokens'),
  ofAccount('/account/logins', () => import('./pages/account/logins.tsx'), 'Logins'),
  ofAccount('/account/audit', () => import('./pages/account/audit.tsx'), 'Audit'),
  ofAccount('/account/webhooks', () => import('./pages/account/webhooks.tsx'), 'Webhooks'),
  ofAccount('/account/webhooks/$webhook', () => import('./pages/account/webhooks.tsx'), 'WebhookPage'),
  ofAccount(
    '/account/webhooks/$webhook/deliveries/$delivery',
    () => import('./pages/account/webhooks.tsx'),
    'DeliveryPage',
  ),
  ofAccount('/account/features', () => import('./pages/account/features.tsx'), 'Features'),
  ofAccount('/admin/find', () => import('./pages/admin/find.tsx'), 'Find'),
  ofAccount('/admin/maintenance', () => import('./pages/admin/maintenance.tsx'), 'MaintenancePage'),
  ofAccount('/admin/clients', () => import('./pages/admin/clients.tsx'), 'Clients'),
  ofAccount('/admin/clients/$client', () => import('./pages/admin/client.tsx'), 'ClientPage'),
  ofAccount('/admin/resellers', () => import('./pages/admin/resellers.tsx'), 'Resellers'),
  ofAccount('/admin/prices', () => import('./pages/admin/price-lists.tsx'), 'PriceLists'),
  ofAccount('/admin/notifications', () => import('./pages/admin/notifications.tsx'), 'Notifications'),
  ofAccount('/admin/products', () => import('./pages/admin/products.tsx'), 'DefaultProducts'),
  ofAccount('/admin/platform', () => import('./pages/admin/platform.tsx'), 'PlatformPage'),
  ofAccount('/admin/test', () => import('./pages/admin/test-kit.tsx'), 'TestKit'),
] as const;

export const router = createRouter({
  basepath: '/console',
  routeTree: root.addChildren([start, place.addChildren(inPlaces), ...ofAccounts]),
  parseSearch,
  stringifySearch,
  // A link under the pointer loads the code of its page. The API is asked only once the page is opened.
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
