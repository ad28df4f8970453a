import { InvalidError } from '../../../lib/errors.ts';

/**
 * Returns the boot index of each volume; null never boots. If no volume asks to be first, the first bootable volume
 * that asks for nothing becomes first.
 * @throws InvalidError when two volumes ask for the same index
 */
export function bootIndexes(
  volumes: readonly { asked: number | undefined; bootable: boolean }[],
): (number | null)[] {
  const asked = volumes.map((volume) =>
    volume.asked === undefined || volume.asked < 0 ? null : volume.asked,
  );
  const twice = asked.findIndex((place, index) => place !== null && asked.indexOf(place) < index);
  if (twice !== -1) {
    throw new InvalidError({
      [`volumes.${twice}.boot_index`]: [`Another volume already has boot_index ${asked[twice]}.`],
    });
  }
  if (!asked.includes(0)) {
    const first = volumes.findIndex((volume) => volume.bootable && volume.asked === undefined);
    if (first !== -1) asked[first] = 0;
  }
  return asked;
}
