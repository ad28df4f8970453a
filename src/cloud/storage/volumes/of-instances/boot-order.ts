import type { FieldProblem } from '../../../../lib/errors.ts';

/**
 * Returns the boot index of each volume; null never boots. If no volume asks to be first, the first bootable volume
 * that asks for nothing becomes first.
 */
export function bootIndexes(volumes: readonly { asked: number | undefined; bootable: boolean }[]): (number | null)[] {
  const order = volumes.map(({ asked }) => (asked === undefined || asked < 0 ? null : asked));
  if (!order.includes(0)) {
    const first = volumes.findIndex((volume) => volume.bootable && volume.asked === undefined);
    if (first !== -1) order[first] = 0;
  }
  return order;
}

/**
 * Returns what Nova refuses in the boot order: boot indexes run from 0 without gaps and repetitions
 * (nova/compute/api.py, `_validate_bdm`), and the volume at 0, or the one its snapshot was taken of, is bootable
 * (nova/utils.py, `get_bdm_image_metadata`). Nova lets a blank volume be first, but here a blank volume never has a
 * boot index.
 */
export function bootOrderProblems(volumes: readonly { bootIndex: number | null; bootable: boolean }[]): FieldProblem[] {
  const order = volumes.map(({ bootIndex }) => bootIndex);
  if (order.every((place) => place === null)) {
    const message = 'No volume can boot; add one from an image, or one with an operating system and boot_index 0.';
    return [{ field: 'volumes', message }];
  }
  return volumes.flatMap(({ bootIndex: place, bootable }, index): FieldProblem[] => {
    if (place === null) return [];
    const complain = (message: string) => [{ field: `volumes.${index}.boot_index`, message }];
    if (order.indexOf(place) < index) return complain(`Another volume already has boot_index ${place}.`);
    if (place > 0 && !order.includes(place - 1)) {
      return complain(`No volume has boot_index ${place - 1}; indexes run from 0 without gaps.`);
    }
    if (place === 0 && !bootable) {
      return complain('The volume has no operating system to boot; give boot_index 0 to one from an image.');
    }
    return [];
  });
}
