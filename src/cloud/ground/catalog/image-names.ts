import type { Image } from './service.ts';

/**
 * Returns pairs of images of one region of which one is named like the beginning of the other, in any case. The older
 * Terraform provider takes a name for a beginning, and refuses to choose between several images.
 */
export function sharedImageNames(images: readonly Image[]): [shorter: string, longer: string][] {
  const names = images.map(({ name }) => name).toSorted((a, b) => a.length - b.length);
  return names.flatMap((shorter, index) =>
    names
      .slice(index + 1)
      .filter((longer) => longer.toLowerCase().startsWith(shorter.toLowerCase()))
      .map((longer): [string, string] => [shorter, longer]),
  );
}
