import type { Scope } from './service.ts';

/** Where a resource lies, as its row says it. */
export interface Place {
  projectId: number;
  regionId: number;
}

export function placeOf(scope: Scope): Place {
  return { projectId: scope.projectId, regionId: scope.region.id };
}
