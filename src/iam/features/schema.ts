import { type Static, Type } from 'typebox';
import { FeatureAnswer } from '../../cloud/ground/catalog/schema.ts';
import { Input, IntegerId, Named, Timestamp } from '../../lib/wire.ts';

export const FeatureParams = Type.Object({ featureId: IntegerId('Feature ID') });
export const ActivationParams = Type.Object({
  activatedFeatureId: IntegerId('ID of the activation, not of the feature'),
});

export const ActivateFeature = Input(
  'ActivateFeature',
  { client_id: IntegerId('Client ID'), feature_id: IntegerId('Feature ID') },
  { client_id: 1, feature_id: 5 },
);
export type ActivateFeature = Static<typeof ActivateFeature>;

export const FeatureActivation = Named('FeatureActivation', {
  id: Type.Integer({ description: 'ID of the activated feature', examples: [1] }),
  client_id: Type.Integer({ description: 'Client it is activated for', examples: [1] }),
  feature_id: Type.Integer({ description: 'Feature ID', examples: [5] }),
  feature: FeatureAnswer,
  created_date: Timestamp('When the feature was activated'),
});
export type FeatureActivation = Static<typeof FeatureActivation>;
export const FeatureActivationArray = Type.Array(FeatureActivation);
