import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { lockVolumes, type PlainVolume, setStatus } from './store.ts';

/** Call this when nothing reads the volume any more. */
export { settleVolume } from './store.ts';

/** Holds the volume for the task that makes an image of it. @throws InvalidError naming `volume_id`, ConflictError */
export async function holdForUpload(
  tx: Transaction,
  scope: Scope,
  id: string,
  taskId: string,
  now: Date,
): Promise<PlainVolume> {
  const [volume] = await lockVolumes(tx, scope, [id]);
  if (!volume) throw new InvalidError({ volume_id: [`No volume ${id} in this project and region.`] });
  refuseHeld(`Volume ${volume.id}`, volume);
  if (!['available', 'in-use'].includes(volume.status)) {
    throw new ConflictError(
      `Volume ${volume.id} is ${volume.status}; to create an image from it, it must be available or in-use`,
    );
  }
  if (!volume.bootable) {
    const message = `Volume ${volume.id} is not bootable; choose one that was made from an image.`;
    throw new InvalidError({ volume_id: [message] });
  }
  await setStatus(tx, [volume.id], 'uploading', taskId, now);
  return volume;
}
