import type { Api } from '../../http/server.ts';
import { ProjectRegionParams } from '../../lib/wire.ts';
import { snapshotPriceRequestSchema, volumePriceRequestSchema, volumePriceSchema } from './schema.ts';
import type { Pricing } from './service.ts';

export function pricingRoutes(app: Api, { pricing }: { pricing: Pricing }): void {
  app.post('/cloud/v1/pricing/:project_id/:region_id/volumes', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewVolumePrice',
      summary: 'Preview the price of a volume',
      description:
        'What a volume would cost, tax and discount included, without making it. A month is 720 hours.',
      tags: ['Pricing'],
      params: ProjectRegionParams,
      body: volumePriceRequestSchema,
      response: { 200: volumePriceSchema },
    },
    handler: async ({ scope, body }) => pricing.volume(scope, body),
  });

  app.post('/cloud/v1/pricing/:project_id/:region_id/snapshots', {
    config: { access: 'read', onlyAsks: true },
    schema: {
      operationId: 'previewSnapshotPrice',
      summary: 'Preview the price of a snapshot',
      description: 'As much as a volume of the size and type of the one that it is taken of.',
      tags: ['Pricing'],
      params: ProjectRegionParams,
      body: snapshotPriceRequestSchema,
      response: { 200: volumePriceSchema },
    },
    handler: async ({ scope, body }) => pricing.snapshot(scope, body),
  });
}
