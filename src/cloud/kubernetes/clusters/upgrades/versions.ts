/**
 * Returns the offered versions that a cluster of `version` may be upgraded to, in the given order: newer patches of
 * its minor version and all of the next minor, since the control plane of Kubernetes moves one minor at a time and
 * never down (Kubernetes version skew policy).
 */
export function upgradeVersions(version: string, offered: readonly string[]): string[] {
  const now = numbersOf(version);
  return offered.filter((candidate) => {
    const { major, minor, patch } = numbersOf(candidate);
    if (major !== now.major) return false;
    return minor === now.minor + 1 || (minor === now.minor && patch > now.patch);
  });
}

function numbersOf(version: string) {
  const [major = 0, minor = 0, patch = 0] = version.replace(/^v/, '').split('.').map(Number);
  return { major, minor, patch };
}
