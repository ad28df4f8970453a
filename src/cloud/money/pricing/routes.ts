import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { snapshotPriceRequestSchema, volumePriceRequestSchema, volumePriceSchema } from './schema.ts';
import { priceOfSnapshot, priceOfVolume } from './service.ts';

export function pricingRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Pricing'], params: ProjectRegionParams, access: 'read' });

  api.post(
    '/cloud/v1/pricing/:project_id/:region_id/volumes',
    'previewVolumePrice',
    'Preview the price of a volume',
    {
      onlyAsks: true,
      description:
        'Returns the price after discount, including tax. Nothing is created. A month has 720 hours.',
      body: volumePriceRequestSchema,
      answer: volumePriceSchema,
      handler: ({ scope, body }) => priceOfVolume(on, scope, body),
    },
  );

  api.post(
    '/cloud/v1/pricing/:project_id/:region_id/snapshots',
    'previewSnapshotPrice',
    'Preview the price of a snapshot',
    {
      onlyAsks: true,
      closedBody: true,
      description: 'A snapshot costs the same as a volume of the size and type of its source volume.',
      body: snapshotPriceRequestSchema,
      answer: volumePriceSchema,
      handler: ({ scope, body }) => priceOfSnapshot(on, scope, body),
    },
  );
}
