import { withoutPrefix } from './dialect.ts';

/** The areas of the API. Each answers errors in a body of its own (contract 1.4). */
export type Area = 'cloud' | 'logging' | 'streaming' | 'iam';

/** The area of a request path, under either base address. Paths of no area answer like the cloud's. */
export function areaOf(url: string): Area {
  const path = withoutPrefix(url);
  if (path.startsWith('/iam/')) return 'iam';
  if (path.startsWith('/streaming/')) return 'streaming';
  return path.startsWith('/cloud/v1/laas/') ? 'logging' : 'cloud';
}
