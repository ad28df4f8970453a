import { Type } from 'typebox';
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
const asks = { access: 'read', onlyAsks: true } as const;
const response = { 200: priceSchema };
const RegionParams = Type.Object({ region_id: IntegerId('Region ID') });
export function itemPriceRoutes(app: Api, on: Platform): void {
  app.post(`${BASE}/file_shares`, {
    config: asks,
    schema: {
      operationId: 'previewFileSharePrice',
      summary: 'Preview the price of a file share',
      tags,
      params: ProjectRegionParams,
      body: FileSharePriceRequest,
      response,
    },
    handler: async ({ scope, body }) => priceOfFileShare(on, scope, body),
  });

  app.post(`${BASE}/floating_ips`, {
    config: asks,
    schema: {
      operationId: 'previewFloatingIpPrice',
      summary: 'Preview the price of floating IPs',
      tags,
      params: ProjectRegionParams,
      body: FloatingIpPriceRequest,
      response,
    },
    handler: async ({ scope, body }) => priceOfFloatingIps(on, scope, body),
  });

  app.post(`${BASE}/images`, {
    config: asks,
    schema: {
      operationId: 'previewImagePrice',
      summary: 'Preview the price of keeping an image',
      tags,
      params: ProjectRegionParams,
      body: ImagePriceRequest,
      response,
    },
    handler: async ({ scope, body }) => priceOfImage(on, scope, body),
  });

  app.post(`${BASE}/reserved_fixed_ips`, {
    config: asks,
    schema: {
      operationId: 'previewReservedFixedIpPrice',
      summary: 'Preview the price of a reserved fixed IP',
      description: 'Public IPv4 addresses cost something, private ones and IPv6 addresses nothing.',
      tags,
      params: ProjectRegionParams,
      body: CreateReservedFixedIp,
      response,
    },
    handler: ({ scope, body }) => priceOfReservedFixedIp(on, scope, body),
  });

  app.get(`${OF_REGION}/laas`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getLoggingPrice',
      summary: 'Get the price of logging',
      description: 'The price of one GiB of logs. Each begun GiB of a topic counts whole.',
      tags,
      params: RegionParams,
      response,
    },
    handler: async ({ principal, params }) => priceOfLogging(on, principal, params.region_id),
  });

  app.get(`${OF_REGION}/ddos`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getDdosPrice',
      summary: 'Get the price of DDoS protection',
      description: 'Without amounts where the price book has no price, or hides it from the account.',
      tags,
      params: RegionParams,
      response: { 200: DdosPrice },
    },
    handler: async ({ principal, params }) => priceOfDdos(on, principal, params.region_id),
  });
}

export function instancePriceRoutes(app: Api, on: Platform): void {
  app.post('/cloud/v2/pricing/:project_id/:region_id/instances', {
    config: asks,
    schema: {
      operationId: 'previewInstancePrice',
      summary: 'Preview the price of instances',
      description:
        'Returns the price after discount, including tax, by part and in total, for all instances together. Nothing is created.',
      tags,
      params: ProjectRegionParams,
      body: InstancePriceRequest,
      response: { 200: InstancePrice },
    },
    handler: ({ scope, body }) => priceOfNewInstance(on, scope, body),
  });

  app.get(`${BASE}/instances/:instance_id`, {
    config: { access: 'read' },
    schema: {
      operationId: 'getInstancePrice',
      summary: 'Get the price of an instance',
      description: 'The price of the machine as it is, with its volumes, public addresses and floating IPs.',
      tags,
      params: InstanceParams,
      response,
    },
    handler: ({ scope, params }) => priceOfInstance(on, scope, params.instance_id),
  });
}
