import { useParams } from '@tanstack/react-router';
import { $api, api } from './api.ts';
import { session } from './hub.ts';

/** A project in a region, where resources are. */
export interface Place {
  project: number;
  region: number;
}

/** How the addresses of its pages begin. */
export const OF_PLACE = '/p/$project/r/$region';

const REGION = 1;
const FIRST: Place = { project: 1, region: REGION };

/** Each account has projects of its own. */
const key = (): string => `place ${session.get()?.who?.clientId}`;

function read(): Place | undefined {
  try {
    const { project, region } = JSON.parse(localStorage.getItem(key()) ?? '') as Place;
    return Number.isSafeInteger(project) && Number.isSafeInteger(region) ? { project, region } : undefined;
  } catch {
    return undefined;
  }
}

/** The place that was looked at last in this browser. */
export const remembered = (): Place => read() ?? FIRST;

export function remember(place: Place): void {
  localStorage.setItem(key(), JSON.stringify(place));
}

const ONE = { params: { query: { limit: 1 } } };

/** Where to begin: the place that was looked at last, or the first project that the person may see. */
export async function firstPlace(): Promise<Place> {
  const known = read();
  if (known) return known;
  const { data } = await api.GET('/cloud/v1/projects', ONE);
  return { project: data?.results[0]?.id ?? FIRST.project, region: REGION };
}

/** The place that the page is in, or else where to begin. */
export function useNearestPlace(): Place {
  const place = usePlace();
  const known = place ?? read();
  const { data } = $api.useQuery('get', '/cloud/v1/projects', ONE, { enabled: known === undefined });
  return known ?? { project: data?.results[0]?.id ?? FIRST.project, region: REGION };
}

/** The place in the address; undefined on pages of the account. */
export function usePlace(): Place | undefined {
  const { project, region }: Partial<Place> = useParams({ strict: false });
  return project === undefined || region === undefined ? undefined : { project, region };
}

/** What regions are called, by their IDs. */
export function useRegionName(): (id: number) => string {
  const { data } = $api.useQuery('get', '/cloud/v1/regions', {});
  return (region) => data?.results.find(({ id }) => id === region)?.display_name ?? String(region);
}

/** The same in the words of the API. */
export const pathOf = ({ project, region }: Place) => ({ project_id: project, region_id: region });
