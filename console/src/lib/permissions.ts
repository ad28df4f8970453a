import { $api } from './api.ts';
import { usePlace } from './place.ts';

/** Until that is known, buttons do nothing, rather than something that is refused. */
const UNKNOWN = 'Reading what you may do …';

/** What the person may do in that project, or the one of the page. */
export function usePermissions(of?: number) {
  const here = usePlace()?.project;
  const project = of ?? here;
  return $api.useQuery('get', '/tradewind/v1/permissions', {
    params: { query: project === undefined ? {} : { project_id: project } },
  });
}

/** Why the person may not call an operation there; undefined if they may, as far as their role decides. */
export function useRefusal(of?: number): (operation: string) => string | undefined {
  const { data, isPending } = usePermissions(of);
  return (operation) => (isPending ? UNKNOWN : data?.refused.find((one) => one.operation === operation)?.reason);
}
