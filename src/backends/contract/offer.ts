/** Says what the backends of regions have of what the catalogue offers. */
export interface Offer {
  /** Returns those of the versions of Kubernetes that the region's backend has. */
  clusterVersions(regionId: number, offered: readonly string[]): string[];
}
