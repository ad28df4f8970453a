import { Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { IntegerId, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { InstanceParams } from '../../compute/instances/schema.ts';
import { CreateReservedFixedIp } from '../../network/reserved-fixed-ips/input-schema.ts';
import { priceOfInstance, priceOfNewInstance } from './instance-prices.ts';
import { InstancePrice, InstancePriceRequest } from './instance-schema.ts';
import {
  priceOfDdos,
  priceOfFileShare,
  priceOfFloatingIps,
  priceOfImage,
  priceOfLogging,
  priceOfReservedFixedIp,
} from './item-prices.ts';
import {
  DdosPrice,
  FileSharePriceRequest,
  FloatingIpPriceRequest,
  ImagePriceRequest,
} from './item-schema.ts';
import { priceSchema } from './schema.ts';

const BASE = '/cloud/v1/pricing/:project_id/:region_id';
const OF_REGION = '/cloud/v1/pricing/:region_id';
const tags = ['Pricing'];
const RegionParams = Type.Object({ region_id: IntegerId('Region ID') });
export function itemPriceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: ProjectRegionParams });

  api.post(`${BASE}/file_shares`, 'previewFileSharePrice', 'Preview the price of a file share', {
    access: 'read',
    onlyAsks: true,
    body: FileSharePriceRequest,
    answer: priceSchema,
    handler: ({ scope, body }) => priceOfFileShare(on, scope, body),
  });

  api.post(`${BASE}/floating_ips`, 'previewFloatingIpPrice', 'Preview the price of floating IPs', {
    access: 'read',
    onlyAsks: true,
    body: FloatingIpPriceRequest,
    answer: priceSchema,
    handler: ({ scope, body }) => priceOfFloatingIps(on, scope, body),
  });

  api.post(`${BASE}/images`, 'previewImagePrice', 'Preview the price of keeping an image', {
    access: 'read',
    onlyAsks: true,
    body: ImagePriceRequest,
    answer: priceSchema,
    handler: ({ scope, body }) => priceOfImage(on, scope, body),
  });

  api.post(
    `${BASE}/reserved_fixed_ips`,
    'previewReservedFixedIpPrice',
    'Preview the price of a reserved fixed IP',
    {
      access: 'read',
      onlyAsks: true,
      description: 'Public IPv4 addresses cost something, private ones and IPv6 addresses nothing.',
      body: CreateReservedFixedIp,
      answer: priceSchema,
      handler: ({ scope, body }) => priceOfReservedFixedIp(on, scope, body),
    },
  );

  api.get(`${OF_REGION}/laas`, 'getLoggingPrice', 'Get the price of logging', {
    description: 'The price of one GiB of logs. Each begun GiB of a topic counts whole.',
    params: RegionParams,
    answer: priceSchema,
    handler: ({ principal, params }) => priceOfLogging(on, principal, params.region_id),
  });

  api.get(`${OF_REGION}/ddos`, 'getDdosPrice', 'Get the price of DDoS protection', {
    description: 'Without amounts where the price book has no price, or hides it from the account.',
    params: RegionParams,
    answer: DdosPrice,
    handler: ({ principal, params }) => priceOfDdos(on, principal, params.region_id),
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

  api.get(`${BASE}/instances/:instance_id`, 'getInstancePrice', 'Get the price of an instance', {
    description: 'The price of the machine as it is, with its volumes, public addresses and floating IPs.',
    params: InstanceParams,
    answer: priceSchema,
    handler: ({ scope, params }) => priceOfInstance(on, scope, params.instance_id),
  });
}
