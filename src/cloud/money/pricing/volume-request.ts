import { type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import type { VolumeType } from '../../../lib/volume-types.ts';
import type { VolumePriceRequest } from './schema.ts';

/** A volume, or a snapshot with the type of its volume. */
export interface PricedVolume {
  sizeGib: number;
  volumeType: VolumeType;
}

const DEFAULT_TYPE: VolumeType = 'standard';

/**
 * Refuses wrong combinations of `source`, `size` and `snapshot_id`, before a snapshot is looked up. An absent field
 * and null mean the same here.
 */
export function volumeRequestProblems(request: VolumePriceRequest): FieldProblem[] {
  const { source } = request;
  const snapshotId = request.snapshot_id ?? null;
  if (source === 'snapshot') {
    if (snapshotId !== null) return [];
    return [{ field: 'snapshot_id', message: 'Is required when source is snapshot.' }];
  }
  const problems: FieldProblem[] = [];
  if ((request.size ?? null) === null) {
    problems.push({ field: 'size', message: `Is required when source is ${source}; send the size in GiB.` });
  }
  if (snapshotId !== null) {
    const message = `Is not allowed when source is ${source}; leave it out, or set source to snapshot.`;
    problems.push({ field: 'snapshot_id', message });
  }
  return problems;
}

/**
 * Returns size and type to price. `snapshot` is the one that `snapshot_id` names, undefined if it doesn't exist. As in
 * the creation of a volume, `type_name` comes before the type of the snapshot. Throws InvalidError for a wrong
 * combination or a size that differs from the snapshot's, NotFoundError for an unknown snapshot.
 */
export function pricedVolume(request: VolumePriceRequest, snapshot?: PricedVolume): PricedVolume {
  const problems = volumeRequestProblems(request);
  if (problems.length > 0) throw new InvalidError(problems);
  const size = request.size ?? undefined;
  if (request.source !== 'snapshot') {
    if (size === undefined) throw new TypeError('a size was checked to be there');
    return { sizeGib: size, volumeType: request.type_name ?? DEFAULT_TYPE };
  }
  if (!snapshot) throw new NotFoundError('Snapshot', request.snapshot_id ?? '');
  if (size !== undefined && size !== snapshot.sizeGib) {
    const message = `Must equal the snapshot's size of ${snapshot.sizeGib} GiB, but is ${size}; leave it out to use the snapshot's size.`;
    throw new InvalidError([{ field: 'size', message }]);
  }
  return { sizeGib: snapshot.sizeGib, volumeType: request.type_name ?? snapshot.volumeType };
}
