import type { Generated } from 'kysely';

export interface FeatureTables {
  feature_activations: {
    id: Generated<number>;
    client_id: number;
    /** Id in the catalogue, which also says whether the feature is paid or free. */
    feature_id: number;
    created_at: Date;
  };
}
