import type { ClusterSpec } from '../../contract/specs.ts';
import { groupsOf } from './groups.ts';
import { PREFIX, type Rendering, rendering, sorted } from './objects.ts';

/**
 * Renders the DDoS profile as an annotation of the Service that stands for the cluster's own address, where the
 * platform's DDoS protection reads it. Kubernetes has no object for such a profile. Without the annotation there is no
 * protection.
 */
export function ddos(spec: ClusterSpec): Rendering {
  const profile = groupsOf(spec).ddos_profile;
  const value = profile?.enabled
    ? {
        profile_template: profile.profile_template,
        profile_template_name: profile.profile_template_name,
        fields: profile.fields ?? [],
      }
    : undefined;
  return rendering({
    parts: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          ...(value && { annotations: { [`${PREFIX}/ddos-profile`]: JSON.stringify(sorted(value)) } }),
        },
      },
    ],
  });
}
