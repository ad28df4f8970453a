import { type Static, Type } from 'typebox';
import { type Feature, featureFields } from './schema.ts';

export const FeatureAnswer = Type.Object(featureFields, {
  title: 'Feature',
  description: 'A feature that a reseller can activate for a client.',
});
export type FeatureAnswer = Static<typeof FeatureAnswer>;
/** The account area answers a bare array here. */
export const FeatureArray = Type.Array(FeatureAnswer);

export function presentFeature(feature: Feature): FeatureAnswer {
  const { needed_for: _, ...shown } = feature;
  return shown;
}
