import { type Static, Type } from 'typebox';
import { listOf } from '../../../lib/wire.ts';
import { KubernetesVersionText } from './schema.ts';

export const KubernetesVersion = Type.Object(
  { version: KubernetesVersionText },
  { title: 'KubernetesVersion' },
);
export type KubernetesVersion = Static<typeof KubernetesVersion>;
export const KubernetesVersionList = listOf(KubernetesVersion, 'KubernetesVersionList');

export function presentKubernetesVersion(version: string): KubernetesVersion {
  return { version };
}
