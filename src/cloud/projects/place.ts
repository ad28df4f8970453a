/** Where a resource lies, as its row says it. */
export interface Place {
  projectId: number;
  regionId: number;
}
