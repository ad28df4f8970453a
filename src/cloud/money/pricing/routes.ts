import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { snapshotPriceRequestSchema, volumePriceRequestSchema, volumePriceSchema } from './schema.ts';
import { priceOfSnapshot, priceOfVolume } from './service.ts';

export function pricingRoutes(app: Api, on: Platform): void {
  app.post('/cloud/v1/pricing/:project_id/:region_id/volumes', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewVolumePrice',
      summary: 'Preview the price of a volume',
      description:
        'Returns the price after discount, including tax. Nothing is created. A month has 720 hours.',
      tags: ['Pricing'],
      params: ProjectRegionParams,
      body: volumePriceRequestSchema,
      response: { 200: volumePriceSchema },
    },
    handler: async ({ scope, body }) => priceOfVolume(on, scope, body),
  });

  app.post('/cloud/v1/pricing/:project_id/:region_id/snapshots', {
    config: { access: 'read', onlyAsks: true, closedBody: true },
    schema: {
      operationId: 'previewSnapshotPrice',
      summary: 'Preview the price of a snapshot',
      description: 'A snapshot costs the same as a volume of the size and type of its source volume.',
      tags: ['Pricing'],
      params: ProjectRegionParams,
      body: snapshotPriceRequestSchema,
      response: { 200: volumePriceSchema },
    },
    handler: async ({ scope, body }) => priceOfSnapshot(on, scope, body),
  });
}
