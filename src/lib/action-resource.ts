/** Kinds of resources in user actions, as the published contract names them. */
export type ResourceType =
  | 'ddos_profile'
  | 'external_ip'
  | 'file_shares'
  | 'floating_ip'
  | 'image'
  | 'instance'
  | 'k8s_cluster'
  | 'k8s_pool'
  | 'laas'
  | 'laas_topic'
  | 'lb_health_monitor'
  | 'lb_l7policy'
  | 'lb_l7rule'
  | 'lblistener'
  | 'lbpool'
  | 'lbpool_member'
  | 'loadbalancer'
  | 'network'
  | 'port'
  | 'project'
  | 'router'
  | 'quota_limit_request'
  | 'secret'
  | 'securitygroup'
  | 'securitygrouprule'
  | 'servergroup'
  | 'snapshot'
  | 'ssh_key'
  | 'subnet'
  | 'volume';

/** A resource that a request is about. */
export interface ActionResource {
  type: ResourceType;
  id: string | number;
  /** The name or address by which people look for it. */
  name?: string | null;
}
