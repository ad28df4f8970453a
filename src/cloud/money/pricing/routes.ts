import { Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { IntegerId, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { InstanceParams } from '../../compute/instances/schema.ts';
import { priced } from '../../ground/catalog/service.ts';
import { asTotal, sumOf, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { ClientPrices } from '../../ground/prices/service.ts';
import { ClusterParams } from '../../kubernetes/clusters/schema.ts';
import { requirePossibleLoadBalancer } from '../../load-balancing/load-balancers/service.ts';
import { CreateReservedFixedIp } from '../../network/reserved-fixed-ips/schema.ts';
import * as clusterPrices from './cluster-prices.ts';
import { clusterPriceRequestSchema, clusterPriceSchema } from './cluster-schema.ts';
import { priceOfInstance, priceOfNewInstance, priceOfSnapshot, priceOfVolume } from './instance-prices.ts';
import { InstancePrice, InstancePriceRequest } from './instance-schema.ts';
import * as loadBalancerSchema from './load-balancer-schema.ts';
import * as schema from './schema.ts';

function priceOf(prices: ClientPrices, { regionId }: Scope, flavorId: string): VolumePrice {
  return volumePrice(prices.terms, prices.hourPrice(regionId, priced.flavor(flavorId)), 1);
}

/** Returns what a load balancer of the flavor costs, without its addresses. @throws InvalidError, ForbiddenError */
export async function priceOfLoadBalancerFlavor(on: Platform, scope: Scope, flavor: string): Promise<VolumePrice> {
  requirePossibleLoadBalancer(on, scope, { flavor });
  return priceOf(await on.rates.of(scope.clientId), scope, flavor);
}

/** Returns what it costs with its addresses, by part and in total. @throws InvalidError, ForbiddenError */
export async function priceOfNewLoadBalancer(
  on: Platform,
  scope: Scope,
  { flavor, floating_ip, ...given }: loadBalancerSchema.LoadBalancerPriceRequest,
): Promise<loadBalancerSchema.LoadBalancerPrice> {
  const vip = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const { publicAddresses } = requirePossibleLoadBalancer(on, scope, { flavor, ...vip });
  const prices = await on.rates.of(scope.clientId);
  const { terms } = prices;
  const address = prices.hourPrice(scope.regionId, priced.publicAddress);
  const parts = {
    flavor: priceOf(prices, scope, flavor),
    external_ip: publicAddresses > 0 ? volumePrice(terms, address, publicAddresses) : undefined,
    floating_ip: floating_ip?.source === 'new' ? volumePrice(terms, address, 1) : undefined,
  };
  const total = sumOf(
    terms,
    Object.values(parts).flatMap((price) => price ?? []),
  );
  const each = (field: 'price_per_hour' | 'price_per_month'): loadBalancerSchema.PriceParts => ({
    flavor: parts.flavor[field],
    external_ip: parts.external_ip?.[field] ?? null,
    floating_ip: parts.floating_ip?.[field] ?? null,
  });
  return {
    per_hour: each('price_per_hour'),
    ...asTotal(total),
    per_month: each('price_per_month'),
  };
}

export function pricingRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Pricing'], params: ProjectRegionParams, access: 'read' });

  api.post('/cloud/v1/pricing/:project_id/:region_id/volumes', 'previewVolumePrice', 'Preview the price of a volume', {
    onlyAsks: true,
    description: 'Returns the price after discount, including tax. Nothing is created. A month has 720 hours.',
    body: schema.volumePriceRequestSchema,
    answer: schema.volumePriceSchema,
    handler: ({ scope, body }) => priceOfVolume(on, scope, body),
  });

  api.post(
    '/cloud/v1/pricing/:project_id/:region_id/snapshots',
    'previewSnapshotPrice',
    'Preview the price of a snapshot',
    {
      onlyAsks: true,
      closedBody: true,
      description: 'A snapshot costs the same as a volume of the size and type of its source volume.',
      body: schema.snapshotPriceRequestSchema,
      answer: schema.volumePriceSchema,
      handler: ({ scope, body }) => priceOfSnapshot(on, scope, body),
    },
  );
}

const BASE = '/cloud/v2/pricing/:project_id/:region_id/k8s/clusters';

export function clusterPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Pricing'], params: ProjectRegionParams });

  api.post(BASE, 'previewKubernetesPrice', 'Preview the price of a Kubernetes cluster', {
    access: 'read',
    onlyAsks: true,
    description:
      'Returns the price of its nodes after discount, including tax. Nothing is created. A month has 720 hours.',
    body: clusterPriceRequestSchema,
    answer: clusterPriceSchema,
    handler: ({ scope, body }) => clusterPrices.priceOfNewCluster(on, scope, body),
  });

  api.get(`${BASE}/:cluster_name`, 'getKubernetesPrice', 'Get the price of a Kubernetes cluster', {
    description: 'Returns the price of its current nodes.',
    params: ClusterParams,
    answer: clusterPriceSchema,
    handler: ({ scope, params }) => clusterPrices.priceOfCluster(on, scope, params.cluster_name),
  });
}

const ITEM_BASE = '/cloud/v1/pricing/:project_id/:region_id';
const OF_REGION = '/cloud/v1/pricing/:region_id';
const tags = ['Pricing'];
const RegionParams = Type.Object({ region_id: IntegerId('Region ID') });
export function itemPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(`${ITEM_BASE}/file_shares`, 'previewFileSharePrice', 'Preview the price of a file share', {
    access: 'read',
    onlyAsks: true,
    body: schema.FileSharePriceRequest,
    answer: schema.priceSchema,
    handler: ({ scope, body }) => clusterPrices.priceOfFileShare(on, scope, body),
  });

  api.post(`${ITEM_BASE}/floating_ips`, 'previewFloatingIpPrice', 'Preview the price of floating IPs', {
    access: 'read',
    onlyAsks: true,
    body: schema.FloatingIpPriceRequest,
    answer: schema.priceSchema,
    handler: ({ scope, body }) => clusterPrices.priceOfFloatingIps(on, scope, body),
  });

  api.post(`${ITEM_BASE}/images`, 'previewImagePrice', 'Preview the price of keeping an image', {
    access: 'read',
    onlyAsks: true,
    body: schema.ImagePriceRequest,
    answer: schema.priceSchema,
    handler: ({ scope, body }) => clusterPrices.priceOfImage(on, scope, body),
  });

  api.post(
    `${ITEM_BASE}/reserved_fixed_ips`,
    'previewReservedFixedIpPrice',
    'Preview the price of a reserved fixed IP',
    {
      access: 'read',
      onlyAsks: true,
      description: 'Public IPv4 addresses cost something, private ones and IPv6 addresses nothing.',
      body: CreateReservedFixedIp,
      answer: schema.priceSchema,
      handler: ({ scope, body }) => clusterPrices.priceOfReservedFixedIp(on, scope, body),
    },
  );

  api.get(`${OF_REGION}/laas`, 'getLoggingPrice', 'Get the price of logging', {
    description: 'The price of one GiB of logs. Each begun GiB of a topic counts whole.',
    params: RegionParams,
    answer: schema.priceSchema,
    handler: ({ principal, params }) => clusterPrices.priceOfLogging(on, principal, params.region_id),
  });

  api.get(`${OF_REGION}/ddos`, 'getDdosPrice', 'Get the price of DDoS protection', {
    description: 'Without amounts where the price book has no price, or hides it from the account.',
    params: RegionParams,
    answer: schema.DdosPrice,
    handler: ({ principal, params }) => clusterPrices.priceOfDdos(on, principal, params.region_id),
  });
}

export function instancePriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(
    '/cloud/v2/pricing/:project_id/:region_id/instances',
    'previewInstancePrice',
    'Preview the price of instances',
    {
      access: 'read',
      onlyAsks: true,
      description:
        'Returns the price after discount, including tax, by part and in total, for all instances together. Nothing is created.',
      body: InstancePriceRequest,
      answer: InstancePrice,
      handler: ({ scope, body }) => priceOfNewInstance(on, scope, body),
    },
  );

  api.get(`${ITEM_BASE}/instances/:instance_id`, 'getInstancePrice', 'Get the price of an instance', {
    description: 'The price of the machine as it is, with its volumes, public addresses and floating IPs.',
    params: InstanceParams,
    answer: schema.priceSchema,
    handler: ({ scope, params }) => priceOfInstance(on, scope, params.instance_id),
  });
}

export function loadBalancerPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams, access: 'read' });

  api.post(
    '/cloud/v1/pricing/:project_id/:region_id/loadbalancers',
    'previewLoadBalancerFlavorPrice',
    'Preview the price of a load balancer without its addresses',
    {
      onlyAsks: true,
      deprecated: true,
      body: loadBalancerSchema.LoadBalancerFlavorPriceRequest,
      answer: schema.priceSchema,
      handler: ({ scope, body }) => priceOfLoadBalancerFlavor(on, scope, body.flavor),
    },
  );

  api.post(
    '/cloud/v2/pricing/:project_id/:region_id/loadbalancers',
    'previewLoadBalancerPrice',
    'Preview the price of a load balancer',
    {
      onlyAsks: true,
      description:
        'Returns the price after discount, including tax, by part and in total. Public IPv4 addresses and new floating IPs cost something, IPv6 addresses nothing. Nothing is created.',
      body: loadBalancerSchema.LoadBalancerPriceRequest,
      answer: loadBalancerSchema.LoadBalancerPrice,
      handler: ({ scope, body }) => priceOfNewLoadBalancer(on, scope, body),
    },
  );
}
