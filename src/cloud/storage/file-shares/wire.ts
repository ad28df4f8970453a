import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { createShareAccess } from './access-rules.ts';
import { createFileShares } from './service.ts';

export function wireFileShares(deps: Foundation & { tasks: Tasks }) {
  const fileShares = createFileShares(deps);
  return { fileShares, shareAccess: createShareAccess({ ...deps, fileShares }) };
}
