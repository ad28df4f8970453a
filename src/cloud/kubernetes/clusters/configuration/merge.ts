import { isDeepStrictEqual } from 'node:util';
import type { Cilium, ClusterConfiguration, Cni, Slurm } from '../../../../db/json-columns.ts';
import type { DdosProfile } from '../../../../lib/ddos-profile.ts';
import { mergedForwarding } from '../../../../lib/log-forwarding.ts';
import {
  CILIUM_DEFAULTS,
  DEFAULT_CONFIGURATION,
  GROUP_NAMES,
  type GroupName,
  NO_OIDC,
  SLURM_OFF,
} from './configuration.ts';
import type { CiliumInput, ClusterUpdate, CniInput, DdosProfileInput, SlurmInput } from './schema.ts';

/**
 * Returns the configuration that a cluster has after an update, valid or not. Groups that are absent or null don't
 * change. Within a group, an absent key keeps its value, and null is a value of its own:
 * - `autoscaler_config`: merged per parameter; `{}` removes all overrides.
 * - `authentication.oidc`: merged per field. Null for a field clears it, null for the whole removes OIDC. A map or list
 *   inside is replaced.
 * - `cni`: `cilium: null` restores the platform defaults, except for the node masks.
 * - `ddos_profile`: switching it off drops every setting that the update doesn't contain.
 * - `logging`: switching it off keeps the rest. Switched on without a topic, one is named after the cluster.
 */
export function mergeConfiguration(
  current: ClusterConfiguration,
  update: ClusterUpdate,
  clusterName: string,
): ClusterConfiguration {
  const { add_ons, authentication, autoscaler_config, cni, ddos_profile, logging } = update;
  return {
    add_ons: add_ons?.slurm ? { slurm: slurmOf(add_ons.slurm) } : current.add_ons,
    authentication:
      authentication?.oidc === undefined
        ? current.authentication
        : {
            oidc:
              authentication.oidc === null
                ? null
                : { ...(current.authentication?.oidc ?? NO_OIDC), ...authentication.oidc },
          },
    autoscaler_config: autoscaler_config
      ? mergeOverrides(current.autoscaler_config ?? {}, autoscaler_config)
      : current.autoscaler_config,
    cni: cni ? mergeCni(current.cni, cni) : current.cni,
    ddos_profile: ddos_profile ? mergeDdosProfile(current.ddos_profile, ddos_profile) : current.ddos_profile,
    logging: logging ? mergedForwarding(current.logging, logging, clusterName) : current.logging,
  };
}

/** Returns the configuration of a new cluster: what the creation body sets, and platform defaults for the rest. */
export function initialConfiguration(creation: ClusterUpdate, clusterName: string): ClusterConfiguration {
  return mergeConfiguration(DEFAULT_CONFIGURATION, creation, clusterName);
}

/** Returns the groups that differ, in the order of the contract. If there are none, there is nothing to do. */
export function changedGroups(current: ClusterConfiguration, wanted: ClusterConfiguration): GroupName[] {
  return GROUP_NAMES.filter((name) => !isDeepStrictEqual(comparable(current)[name], comparable(wanted)[name]));
}

/** No overrides, no OIDC and the default CNI can each be stored in two ways. This chooses one of them. */
function comparable(configuration: ClusterConfiguration): ClusterConfiguration {
  return {
    ...configuration,
    authentication: configuration.authentication ?? DEFAULT_CONFIGURATION.authentication,
    autoscaler_config: configuration.autoscaler_config ?? {},
    cni: configuration.cni ?? DEFAULT_CONFIGURATION.cni,
  };
}

/** Clients may send UUIDs in either letter case. They are stored in lower case. */
function slurmOf(given: SlurmInput): Slurm {
  if (!given.enabled) return SLURM_OFF;
  return {
    enabled: true,
    file_share_id: given.file_share_id?.toLowerCase() ?? null,
    ssh_key_ids: given.ssh_key_ids?.map((id) => id.toLowerCase()) ?? null,
    worker_count: given.worker_count ?? null,
  };
}

function mergeOverrides(current: Record<string, string>, given: Record<string, string>): Record<string, string> {
  return Object.keys(given).length === 0 ? {} : { ...current, ...given };
}

function mergeCni(current: Cni | null, given: CniInput): Cni {
  const provider = given.provider ?? current?.provider ?? 'calico';
  if (provider !== 'cilium') return { provider, cilium: null };
  const before = current?.cilium ?? CILIUM_DEFAULTS;
  if (given.cilium === null) {
    const { mask_size, mask_size_v6 } = before;
    return { provider, cilium: { ...CILIUM_DEFAULTS, mask_size, mask_size_v6 } };
  }
  return { provider, cilium: { ...before, ...given.cilium, ...(given.cilium && routingOf(before, given.cilium)) } };
}

/** Merges `tunnel` and `routing_mode`, which overlap: if only one is given, the other one follows where it has to. */
function routingOf(current: Cilium, given: CiliumInput): Pick<Cilium, 'routing_mode' | 'tunnel'> {
  const { routing_mode = current.routing_mode, tunnel = current.tunnel } = given;
  if (given.tunnel !== undefined && given.routing_mode === undefined) {
    return { tunnel, routing_mode: tunnel === '' ? 'native' : 'tunnel' };
  }
  if (given.routing_mode !== undefined && given.tunnel === undefined) {
    return { routing_mode, tunnel: routing_mode === 'native' ? tunnel : tunnel || CILIUM_DEFAULTS.tunnel };
  }
  return { routing_mode, tunnel };
}

function mergeDdosProfile(current: DdosProfile | null, given: DdosProfileInput): DdosProfile {
  const { profile_template: id, profile_template_name: name } = given;
  const on = given.enabled && current?.enabled ? current : undefined;
  // If the update names another template, by ID or by name, the old one and the values of its fields are dropped.
  const kept = on && agrees(id, on.profile_template) && agrees(name, on.profile_template_name) ? on : undefined;
  const fields = given.fields?.map(({ base_field, field_value = null }) => ({ base_field, field_value }));
  return {
    enabled: given.enabled,
    fields: fields ?? kept?.fields ?? [],
    profile_template: id === undefined ? (kept?.profile_template ?? null) : id,
    profile_template_name: name === undefined ? (kept?.profile_template_name ?? null) : name,
  };
}

function agrees<T>(given: T | null | undefined, current: T | null): boolean {
  return given === undefined || given === null || given === current;
}
