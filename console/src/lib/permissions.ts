import { $api } from './api.ts';
import { usePlace } from './place.ts';

/** Until that is known, buttons do nothing, rather than something that is refused. */
const UNKNOWN = 'Reading what you may do …';

/**
 * Why the person may not call an operation in that project, or the one of the page; undefined if they may, as far as their
 * role decides.
 */
export function useRefusal(of?: number): (operation: string) => string | undefined {
  const here = usePlace()?.project;
  const project = of ?? here;
  const { data, isPending } = $api.useQuery('get', '/tradewind/v1/permissions', {
    params: { query: project === undefined ? {} : { project_id: project } },
  });
  return (operation) => (isPending ? UNKNOWN : data?.refused.find((one) => one.operation === operation)?.reason);
}
