/** Whether a version, such as v1.34.4, is later than another one. */
export function isLater(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  const differing = left.findIndex((part, index) => part !== right[index]);
  return differing !== -1 && (left[differing] ?? 0) > (right[differing] ?? 0);
}

const numbersOf = (version: string): number[] => version.slice(1).split('.').map(Number);
