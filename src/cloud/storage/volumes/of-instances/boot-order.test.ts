import { describe, expect, it } from 'vitest';
import { bootIndexes, bootOrderProblems } from './boot-order.ts';

const image = (asked?: number) => ({ asked, bootable: true });
const blank = (asked?: number) => ({ asked, bootable: false });

describe('the boot order of the volumes of a new instance', () => {
  it.each([
    ['the first bootable one boots, if nothing is said', [blank(), image(), image()], [null, 0, null]],
    ['what is asked for counts', [image(1), image(0)], [1, 0]],
    ['a negative index never boots', [image(-1), image()], [null, 0]],
    ['others may have places behind the first', [image(), blank(1)], [0, 1]],
  ])('%s', (_, volumes, order) => {
    const indexes = bootIndexes(volumes);
    expect(indexes).toEqual(order);
    expect(bootOrderProblems(volumes.map((one, at) => ({ ...one, bootIndex: indexes[at] ?? null })))).toEqual([]);
  });

  it.each([
    ['no volume boots', [blank(), image(-1)], 'volumes', 'No volume can boot'],
    ['two have the same place', [image(0), image(0)], 'volumes.1.boot_index', 'already has boot_index 0'],
    ['a place is left out', [image(0), blank(2)], 'volumes.1.boot_index', 'No volume has boot_index 1'],
    ['nothing is first', [blank(), image(1)], 'volumes.1.boot_index', 'No volume has boot_index 0'],
    ['the first has no system', [image(1), blank(0)], 'volumes.1.boot_index', 'no operating system'],
  ])('is refused if %s', (_, volumes, field, message) => {
    const indexes = bootIndexes(volumes);
    const problems = bootOrderProblems(volumes.map((one, at) => ({ ...one, bootIndex: indexes[at] ?? null })));
    expect(problems).toEqual([{ field, message: expect.stringContaining(message) }]);
  });
});
