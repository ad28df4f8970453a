/** The kind of Soperator with no rules of its own: the operator's description of it isn't ours to copy. */
export const SLURM_KIND = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'slurmclusters.slurm.nebius.ai' },
  spec: {
    group: 'slurm.nebius.ai',
    scope: 'Namespaced',
    names: { plural: 'slurmclusters', singular: 'slurmcluster', kind: 'SlurmCluster' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};
