import { type QueryObserverResult, useQuery } from '@tanstack/react-query';
import type { components } from '../../../types/api.d.ts';
import { api } from '../../lib/api.ts';
import { type Place, pathOf } from '../../lib/place.ts';

type Schemas = components['schemas'];
export type Cluster = Schemas['KubernetesCluster'];
export type Pool = Schemas['KubernetesPool'];
export type ClusterUpdate = Schemas['KubernetesClusterUpdate'];
export type CreateCluster = Schemas['CreateKubernetesCluster'];
export type CreatePool = Schemas['CreateKubernetesPool'];
export type Price = Schemas['KubernetesPrice'];

/** The address of one cluster, and what fills it. */
export const CLUSTER = '/cloud/v2/k8s/clusters/{project_id}/{region_id}/{cluster_name}';
export const clusterPath = (place: Place, name: string) => ({ ...pathOf(place), cluster_name: name });

/** A cluster as it was read, with the version that a change of it may be bound to. */
export interface ClusterRead {
  cluster: Cluster;
  etag: string;
}

export function useCluster(place: Place, name: string): QueryObserverResult<ClusterRead, Error> {
  return useQuery({
    queryKey: ['cluster', place, name],
    queryFn: async () => {
      const { data, response } = await api.GET(CLUSTER, { params: { path: clusterPath(place, name) } });
      return { cluster: data as Cluster, etag: response.headers.get('etag') ?? '*' };
    },
  });
}
