import { describe, expect, test } from 'vitest';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { type PricedVolume, pricedVolume, type VolumePriceRequest, volumeRequestProblems } from './schema.ts';

const snapshot: PricedVolume = { sizeGib: 50, volumeType: 'ssd_hiiops' };

describe('priced', () => {
  test.each<[VolumePriceRequest, size: number, type: string]>([
    [{ source: 'new-volume', size: 10 }, 10, 'standard'],
    [{ source: 'image', size: 20, type_name: 'ultra' }, 20, 'ultra'],
    [{ source: 'new-volume', size: 1, snapshot_id: null, type_name: null }, 1, 'standard'],
    [{ source: 'snapshot', snapshot_id: 's' }, 50, 'ssd_hiiops'],
    [{ source: 'snapshot', snapshot_id: 's', size: null, type_name: null }, 50, 'ssd_hiiops'],
    [{ source: 'snapshot', snapshot_id: 's', size: 50 }, 50, 'ssd_hiiops'],
    [{ source: 'snapshot', snapshot_id: 's', type_name: 'standard' }, 50, 'standard'],
  ])('%j', (request, sizeGib, volumeType) => {
    expect(volumeRequestProblems(request)).toEqual([]);
    const context = request.source === 'snapshot' ? snapshot : undefined;
    expect(pricedVolume(request, context)).toEqual({ sizeGib, volumeType });
  });
});

describe('refused', () => {
  test.each<[VolumePriceRequest, fields: string[]]>([
    [{ source: 'new-volume' }, ['size']],
    [{ source: 'image', size: null }, ['size']],
    [{ source: 'new-volume', size: 10, snapshot_id: 's' }, ['snapshot_id']],
    [{ source: 'image', snapshot_id: 's' }, ['size', 'snapshot_id']],
    [{ source: 'snapshot' }, ['snapshot_id']],
    [{ source: 'snapshot', snapshot_id: null, size: 50 }, ['snapshot_id']],
  ])('%j', (request, fields) => {
    expect(volumeRequestProblems(request).map(({ field }) => field)).toEqual(fields);
    expect(() => pricedVolume(request, snapshot)).toThrow(InvalidError);
  });

  test('another size than the snapshot has', () => {
    const refused = () => pricedVolume({ source: 'snapshot', snapshot_id: 's', size: 49 }, snapshot);
    expect(refused).toThrow(InvalidError);
    expect(refused).toThrow(/size: Must equal the snapshot's size of 50 GiB, but is 49/);
  });

  test('a snapshot that is not there', () => {
    const refused = () => pricedVolume({ source: 'snapshot', snapshot_id: 'gone' });
    expect(refused).toThrow(NotFoundError);
    expect(refused).toThrow('Snapshot gone not found');
  });
});
